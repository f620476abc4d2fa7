package whatif

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Prescription is what a finding asks for: the settings of its experiment,
// like "GOMAXPROCS=2", and the functions where it is.
type Prescription struct {
	Rule      string
	Set       []string
	Functions []string
}

// fixes are what to edit for the finding of a rule. Rules that are not here
// ask for a change that is no edit of a trace: other algorithms, other sizes of
// reads, goroutines that are not started.
var fixes = map[string]func(*Program, Prescription) (Edit, string, bool){
	"fewprocs":       procsCure,
	"idleprocs":      procsCure,
	"idlespin":       procsCure,
	"oversubscribed": procsCure,
	"hotmutex":       lockCure,
	"singlesocket":   lockCure,
	"hotfunction":    functionCure,
	"gccost":         collectorCure,
	"gcassist":       collectorCure,
	"tinyheap":       collectorCure,
	"allocchurn":     collectorCure,
}

// EditFor returns the edit that stands for the fix of a finding, and in words
// what it assumes; false when none does.
func (p *Program) EditFor(f Prescription) (Edit, string, bool) {
	fix := fixes[f.Rule]
	if fix == nil {
		return Edit{}, "", false
	}
	return fix(p, f)
}

func setting(f Prescription, name string) (int, bool) {
	for _, s := range f.Set {
		if v, ok := strings.CutPrefix(s, name+"="); ok {
			n, err := strconv.Atoi(v)
			return n, err == nil
		}
	}
	return 0, false
}

func procsCure(p *Program, f Prescription) (Edit, string, bool) {
	n, ok := setting(f, "GOMAXPROCS")
	if !ok || n < 1 || n == p.Procs {
		return Edit{}, "", false
	}
	return WithProcs(n), "the trace on " + strconv.Itoa(n) + " Ps", true
}

// lockCure takes away the lock that waited most among those at the finding's places.
func lockCure(p *Program, f Prescription) (Edit, string, bool) {
	for _, l := range p.worstLocks() {
		if slices.ContainsFunc(l.Sites, func(s string) bool { return slices.Contains(f.Functions, s[:strings.LastIndexByte(s, ':')]) }) {
			return WithLock(l.Site, 0), "nobody waits for " + l.Site + ", its work remains", true
		}
	}
	return Edit{}, "", false
}

func functionCure(p *Program, f Prescription) (Edit, string, bool) {
	for _, name := range f.Functions {
		if _, ok := p.shares[name]; ok || name != "" && p.group(name) >= 0 {
			return WithScale(name, 0.5), name + " takes half of its time", true
		}
	}
	return Edit{}, "", false
}

// collectorCure scales the collector's work with the heap that GOGC lets grow:
// the cost of collecting goes with its inverse.
func collectorCure(p *Program, f Prescription) (Edit, string, bool) {
	if p.GC <= 0 {
		return Edit{}, "", false
	}
	factor := 0.5
	if gogc, ok := setting(f, "GOGC"); ok && gogc > 0 {
		factor = clamp(100/float64(gogc), 0, 1)
	}
	return WithGC(factor), "the collector does " + number(factor) + " of its work", cmp.Compare(factor, 1) != 0
}
