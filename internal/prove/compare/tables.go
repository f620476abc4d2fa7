package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Table is the difference of two profiles, by function or by place.
type Table struct {
	Name   string    `json:"name"` // like "CPU by function"
	Unit   fact.Unit `json:"unit"`
	Per    Base      `json:"per"`
	Source string    `json:"source"`
	TotalA float64   `json:"total_a"`
	TotalB float64   `json:"total_b"`
	// Rows are those that differ most first; Left is how many more there are.
	Rows []Entry `json:"rows"`
	Left int     `json:"left,omitempty"`
	Note string  `json:"note,omitempty"`
}

// An Entry is a function, or a place where goroutines waited.
type Entry struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Reason is what was waited for; empty in profiles.
	Reason string `json:"reason,omitempty"`
	// A and B are of the function itself or of the place.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// CumA and CumB count what it called as well; 0 for places.
	CumA float64 `json:"cum_a,omitempty"`
	CumB float64 `json:"cum_b,omitempty"`
}

// maxEntries is how many rows a table keeps: nobody reads more, and a program
// has tens of thousands of functions.
const maxEntries = 200

// An entryKey is what entries of both sides are matched by. Lines move when
// code is edited, functions hardly ever do.
type entryKey struct{ function, reason string }

// A tally collects the entries of both sides.
type tally struct {
	entries map[entryKey]*Entry
	total   [2]float64
}

func (t *tally) at(k entryKey) *Entry {
	e := t.entries[k]
	if e == nil {
		e = &Entry{Function: k.function, Reason: k.reason}
		t.entries[k] = e
	}
	return e
}

func (e *Entry) add(side int, self, cum float64) {
	if side == 0 {
		e.A += self
		e.CumA += cum
	} else {
		e.B += self
		e.CumB += cum
	}
}

// table orders what was collected; nil when nothing was.
func (t *tally) table(name string, unit fact.Unit, per Base, source string) *Table {
	if t.total[0] == 0 && t.total[1] == 0 {
		return nil
	}
	out := &Table{Name: name, Unit: unit, Per: per, Source: source, TotalA: t.total[0], TotalB: t.total[1]}
	for _, e := range t.entries {
		out.Rows = append(out.Rows, *e)
	}
	slices.SortFunc(out.Rows, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(math.Abs(y.B-y.A), math.Abs(x.B-x.A)), cmp.Compare(math.Abs(y.CumB-y.CumA), math.Abs(x.CumB-x.CumA)),
			cmp.Compare(max(y.A, y.B), max(x.A, x.B)), cmp.Compare(max(y.CumA, y.CumB), max(x.CumA, x.CumB)),
			cmp.Compare(x.Function, y.Function), cmp.Compare(x.Reason, y.Reason))
	})
	if n := len(out.Rows); n > maxEntries {
		out.Rows, out.Left = out.Rows[:maxEntries], n-maxEntries
	}
	return out
}

// A profileOf finds a profile in a model, which of its columns counts, and how
// many seconds it covers (0 when that is not known).
type profileOf func(m *model.Model) (p *model.Profile, column int, seconds float64)

// profiles compares profiles by function; nil when a side has none.
func profiles(a, b *side, name string, unit fact.Unit, scale float64, source string, of profileOf) *Table {
	pa, columnA, secondsA := of(a.m)
	pb, columnB, secondsB := of(b.m)
	if pa == nil || pb == nil || columnA < 0 || columnB < 0 {
		return nil
	}
	per, fa, fb := divisors(a, b, secondsA, secondsB)
	t := &tally{entries: map[entryKey]*Entry{}}
	t.profile(0, a.m, pa, columnA, scale*fa)
	t.profile(1, b.m, pb, columnB, scale*fb)
	return t.table(name, unit, per, source)
}

// divisors say what quantities measured over these seconds are multiplied with.
func divisors(a, b *side, secondsA, secondsB float64) (per Base, fa, fb float64) {
	switch {
	case secondsA <= 0 || secondsB <= 0:
		return PerRun, 1, 1
	case a.rate > 0 && b.rate > 0:
		return PerOperation, 1 / secondsA / a.rate, 1 / secondsB / b.rate
	}
	return PerSecond, 1 / secondsA, 1 / secondsB
}

// profile adds the samples of one side. A function that is on a stack twice
// counts once in its cumulative time.
func (t *tally) profile(side int, m *model.Model, p *model.Profile, column int, factor float64) {
	seen := map[string]bool{}
	for _, s := range p.Samples {
		if column >= len(s.Values) || s.Values[column] == 0 {
			continue
		}
		v := float64(s.Values[column]) * factor
		t.total[side] += v
		frames := m.Stacks.Frames(s.Stack)
		if len(frames) == 0 {
			t.at(entryKey{function: "(unknown)"}).add(side, v, v)
			continue
		}
		clear(seen)
		for i, f := range frames {
			if seen[f.Func] {
				continue
			}
			seen[f.Func] = true
			self := 0.0
			if i == 0 {
				self = v
			}
			e := t.at(entryKey{function: f.Func})
			e.add(side, self, v)
			if e.File == "" {
				e.File, e.Line = f.File, f.Line
			}
		}
	}
}

func cpuProfile(m *model.Model) (*model.Profile, int, float64) {
	if m.CPU == nil {
		return nil, -1, 0
	}
	_, nanos := m.CPU.Columns()
	return m.CPU, nanos, seconds(m, m.CPU)
}

func kernelProfile(m *model.Model) (*model.Profile, int, float64) {
	if m.Kernel == nil || m.Kernel.CPU == nil {
		return nil, -1, 0
	}
	_, nanos := m.Kernel.CPU.Columns()
	return m.Kernel.CPU, nanos, seconds(m, m.Kernel.CPU)
}

// seconds returns the time that a profile covers: it says so, or it came with a trace.
func seconds(m *model.Model, p *model.Profile) float64 {
	if p.Duration > 0 {
		return p.Duration.Seconds()
	}
	if p.FromTrace {
		return m.Run.Duration.Seconds()
	}
	return 0
}

func heapProfile(column string) profileOf {
	return func(m *model.Model) (*model.Profile, int, float64) {
		if m.Heap == nil {
			return nil, -1, 0
		}
		return m.Heap, typed(m.Heap, column), m.Heap.Duration.Seconds()
	}
}

// contention finds the column of delays of a block or mutex profile.
func contention(p func(m *model.Model) *model.Profile) profileOf {
	return func(m *model.Model) (*model.Profile, int, float64) {
		if p(m) == nil {
			return nil, -1, 0
		}
		return p(m), typed(p(m), "delay"), p(m).Duration.Seconds()
	}
}

func typed(p *model.Profile, name string) int {
	return slices.IndexFunc(p.Types, func(t model.ValueType) bool { return t.Name == name })
}

// blockedNote goes with every table of waits.
const blockedNote = "waits add up over goroutines: a sum ranks places and is not time that a fix would save"

// blocking compares the waits of goroutines by place and reason; nil when a
// side has no trace.
func blocking(a, b *side) *Table {
	if a.m.Sched == nil || b.m.Sched == nil {
		return nil
	}
	per, fa, fb := divisors(a, b, a.m.Run.Duration.Seconds(), b.m.Run.Duration.Seconds())
	t := &tally{entries: map[entryKey]*Entry{}}
	t.waits(0, a.m, fa)
	t.waits(1, b.m, fb)
	out := t.table("blocked goroutine time by place", fact.Seconds, per, "trace")
	if out != nil {
		out.Note = blockedNote
	}
	return out
}

func (t *tally) waits(side int, m *model.Model, factor float64) {
	system := map[string]bool{}
	for i := range m.Sched.Groups {
		system[m.Sched.Groups[i].Name] = m.Sched.Groups[i].System
	}
	for _, w := range m.Sched.Waits {
		if system[w.Group] {
			continue // the runtime's own goroutines wait all day
		}
		v := w.Total.Seconds() * factor
		p := waitPlace(m.Stacks.Frames(w.Stack))
		reason := cmp.Or(w.Reason, string(w.Kind))
		if w.Kind == model.SchedWait {
			reason = "ready, waiting for a P"
		}
		e := t.at(entryKey{cmp.Or(p.Function, w.Group, "(unknown)"), reason})
		e.add(side, v, 0)
		if e.File == "" {
			e.File, e.Line = p.File, p.Line
		}
		t.total[side] += v
	}
}

// waitPlace returns where a goroutine waits: the user's code, else the leaf.
func waitPlace(frames []model.Frame) diagnosis.Place {
	if p, ok := diagnosis.UserPlace(frames); ok {
		return p
	}
	if len(frames) == 0 {
		return diagnosis.Place{}
	}
	f := frames[0]
	return diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}
}
