package whatif

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// A Kind is a sort of edit; errors are measured by kind.
type Kind string

// The kinds of edits.
const (
	Procs     Kind = "procs"
	Scale     Kind = "scale"
	LockEdit  Kind = "lock"
	GCCost    Kind = "gc"
	Composite Kind = "several"
)

// An Edit is one change to a program, made by one of the functions below.
type Edit struct {
	kind Kind
	text string
	do   func(*Program, *edits) error
}

// Kind returns the edit's kind.
func (e Edit) Kind() Kind { return e.kind }

// String returns the edit as the command line takes it.
func (e Edit) String() string { return e.text }

// unknown returns the error of a name in an edit that the trace does not have. known are
// the most important ones; several is whether the name stands for more than one.
func unknown(flag, what, name string, known []string, several bool) error {
	hint := ""
	if len(known) > 0 {
		hint = "--" + flag + " " + shell.Word(problem.Likely(name, known)+"=0.5")
	}
	if several {
		return problem.New(problem.Misuse, hint, "%s %q is several in this trace", what, name)
	}
	return problem.New(problem.Misuse, hint, "no %s %q in this trace", what, name)
}

// bad returns the error of an edit that makes no sense.
func bad(edit, why string) error {
	return problem.New(problem.Misuse, "gowhy whatif --help", "%s: %s", edit, why)
}

const maxProcs = 1 << 14

// WithProcs sets GOMAXPROCS. Where the number of cores is known, Ps beyond
// them share them.
func WithProcs(n int) Edit {
	text := "--procs " + strconv.Itoa(n)
	return Edit{Procs, text, func(_ *Program, e *edits) error {
		if n < 1 || n > maxProcs {
			return bad(text, fmt.Sprintf("the number of Ps is 1 to %d", maxProcs))
		}
		e.procs = n
		return nil
	}}
}

// WithScale makes the work of a group of goroutines, or of a function with all
// that it calls, take factor times as long. A name that is both means the
// group. Functions need CPU samples in the trace: the work of a group is
// changed by the function's share of the group's samples.
func WithScale(name string, factor float64) Edit {
	text := "--scale " + name + "=" + number(factor)
	return Edit{Scale, text, func(p *Program, e *edits) error {
		if err := checkFactor(text, factor); err != nil {
			return err
		}
		if g := p.group(name); g >= 0 && name != "" {
			e.scaleGroup(p, g, factor)
			return nil
		}
		share, ok := p.shares[name]
		if !ok {
			return unknown("scale", "group or sampled function", name, p.scalable(), false)
		}
		for g, s := range share {
			e.scaleGroup(p, g, 1-s*(1-factor))
		}
		return nil
	}}
}

// scalable lists what WithScale knows, the largest first.
func (p *Program) scalable() (names []string) {
	for _, g := range p.UserGroups() {
		if g.Name != "" {
			names = append(names, g.Name)
		}
	}
	for _, f := range p.Functions {
		names = append(names, f.Name)
	}
	return names
}

// WithLock makes the lock at a line be held factor times as long, by making
// the work under it shorter; a factor of 0 takes the lock away and leaves the work.
func WithLock(site string, factor float64) Edit {
	text := "--lock " + site + "=" + number(factor)
	return lockEdit(text, site, func(e *lockEdits) error {
		if factor == 0 {
			e.removed = true
			return nil
		}
		e.hold *= factor
		return checkFactor(text, factor)
	})
}

// WithShards makes n locks of the one at a line; each acquisition is of one
// of them, all equally often.
func WithShards(site string, n int) Edit {
	text := fmt.Sprintf("--lock %s=shard:%d", site, n)
	return lockEdit(text, site, func(e *lockEdits) error {
		if n < 1 || n > 1<<10 {
			return bad(text, "a lock has 1 to 1024 shards")
		}
		e.shards = n
		return nil
	})
}

func lockEdit(text, site string, do func(*lockEdits) error) Edit {
	return Edit{LockEdit, text, func(p *Program, e *edits) error {
		l, ok := p.lock(site)
		if !ok {
			return unknown("lock", "lock", site, p.contendedLocks(), l >= 0)
		}
		if e.locks == nil {
			e.locks = make([]lockEdits, len(p.Locks))
			for i := range e.locks {
				e.locks[i] = lockEdits{hold: 1, shards: 1}
			}
		}
		return do(&e.locks[l])
	}}
}

// contendedLocks lists the locks by the time that was waited for them.
func (p *Program) contendedLocks() (names []string) {
	for _, l := range p.worstLocks() {
		names = append(names, l.Site)
	}
	return names
}

// WithGC makes the collector's work, that of its workers and assists, take factor times as
// long. Collections stay at the same amounts of the program's work.
func WithGC(factor float64) Edit {
	text := "--gc " + number(factor)
	return Edit{GCCost, text, func(_ *Program, e *edits) error {
		e.gc *= factor
		return checkFactor(text, factor)
	}}
}

const maxFactor = 1000

func checkFactor(edit string, f float64) error {
	if !(f >= 0 && f <= maxFactor) {
		return bad(edit, fmt.Sprintf("a factor is 0 to %d: 0.5 is half of the time", maxFactor))
	}
	return nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// ParseLock reads a change of a lock as the command line has it: SITE=0.5,
// SITE=0, SITE=shard:4.
func ParseLock(s string) (Edit, error) {
	site, change, ok := cutLast(s)
	if !ok {
		return Edit{}, bad("--lock "+s, "a lock's change is SITE=0.5, SITE=0 or SITE=shard:4")
	}
	if n, ok := strings.CutPrefix(change, "shard:"); ok {
		shards, err := strconv.Atoi(n)
		if err != nil {
			return Edit{}, bad("--lock "+s, fmt.Sprintf("%q is no number of shards", n))
		}
		return WithShards(site, shards), nil
	}
	f, err := factor("--lock "+s, change)
	return WithLock(site, f), err
}

// ParseScale reads a change of work: NAME=0.5.
func ParseScale(s string) (Edit, error) {
	name, change, ok := cutLast(s)
	if !ok {
		return Edit{}, bad("--scale "+s, "a change of work is FUNCTION=0.5")
	}
	f, err := factor("--scale "+s, change)
	return WithScale(name, f), err
}

func factor(edit, s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, bad(edit, fmt.Sprintf("%q is no number", s))
	}
	return f, checkFactor(edit, f)
}

// cutLast cuts at the last "=": names of generic functions may have one.
func cutLast(s string) (name, change string, ok bool) {
	i := strings.LastIndexByte(s, '=')
	if i <= 0 || i == len(s)-1 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// edits are what all changes of one replay come to.
type edits struct {
	procs    int // 0 is as traced
	work, gc float64
	groups   []float64 // factor of each group's own work, nil for all 1
	locks    []lockEdits
}

type lockEdits struct {
	hold    float64
	removed bool
	shards  int
}

func (e *edits) scaleGroup(p *Program, g int, factor float64) {
	if e.groups == nil {
		e.groups = make([]float64, len(p.Groups))
		for i := range e.groups {
			e.groups[i] = 1
		}
	}
	e.groups[g] *= factor
}

func (p *Program) combine(list []Edit) (edits, error) {
	e := edits{work: 1, gc: 1}
	for _, one := range list {
		if err := one.do(p, &e); err != nil {
			return e, err
		}
	}
	return e, nil
}
