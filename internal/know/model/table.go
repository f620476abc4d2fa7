package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Table is a profile as go tool pprof prints it: functions with what was counted in
// them and under them. It has no stacks: what two functions have in common it does not
// tell, so that shares of several are not to be added up. It may leave functions out,
// and shares are of Total, which it states.
type Table struct {
	File      string    // that it was read from
	Source    Source    // the profile that was printed; "" where nothing tells
	Type      ValueType // in its name's spelling of pprof; the name is "" where nothing tells
	Total     float64   // of the whole profile, in Type's unit
	Duration  time.Duration
	Functions []TableFunction // most under them first
}

// A TableFunction is one line of a table.
type TableFunction struct {
	Func string
	File string // where the table has the place, as that of -list and -lines
	Line int    // the one with most under it
	// Flat is what was counted in the function itself, Cum what was with the functions
	// that it calls.
	Flat, Cum float64
	Callers   []TableCaller // by what they have of Cum, most first; only of -peek and -tree
}

// A TableCaller is a function that calls another, and how much of that one's Cum is for it.
type TableCaller struct {
	Func string
	Cum  float64
}

// Share returns a part of the table's total, 0 to 1.
func (t *Table) Share(part float64) float64 {
	if t.Total <= 0 {
		return 0
	}
	return min(1, max(0, part/t.Total))
}

// Shown returns the part of the total that is in functions of the table, 0 to 1.
func (t *Table) Shown() float64 {
	sum := 0.0
	for i := range t.Functions {
		sum += t.Functions[i].Flat
	}
	return t.Share(sum)
}

// Most returns the function with most under it of those that match, nil when none does.
func (t *Table) Most(match func(function string) bool) *TableFunction {
	for i := range t.Functions {
		if match(t.Functions[i].Func) {
			return &t.Functions[i]
		}
	}
	return nil
}

// sameCum is how far two sums of one set of stacks may differ in a table: it prints
// four digits, and pprof leaves small nodes out of one more than of the other.
const sameCum = 0.005

// Around returns the program's functions under which as much was counted as in f itself,
// within what a table rounds: of a leaf of one caller these are its callers.
func (t *Table) Around(f *TableFunction) (list []*TableFunction) {
	for i := range t.Functions {
		g := &t.Functions[i]
		if g != f && !IsStd(g.Func) && packagePath(g.Func) != "" && g.Cum >= f.Cum*(1-sameCum) && g.Cum <= f.Cum*(1+sameCum) {
			list = append(list, g)
		}
	}
	return list
}

// Join adds what another table of the same profile shows, and reports whether it is one.
func (t *Table) Join(o *Table) bool {
	if t.Source != o.Source || t.Type != o.Type || o.Total < t.Total*(1-sameCum) || o.Total > t.Total*(1+sameCum) {
		return false
	}
	t.Duration = max(t.Duration, o.Duration)
	at := map[string]int{}
	for i := range t.Functions {
		at[t.Functions[i].Func] = i
	}
	for _, f := range o.Functions {
		i, ok := at[f.Func]
		if !ok {
			t.Functions = append(t.Functions, f)
			continue
		}
		g := &t.Functions[i]
		g.Flat, g.Cum = max(g.Flat, f.Flat), max(g.Cum, f.Cum)
		if g.Line == 0 {
			g.File, g.Line = f.File, f.Line
		}
		if len(g.Callers) == 0 {
			g.Callers = f.Callers
		}
	}
	t.sort()
	return true
}

func (t *Table) sort() {
	slices.SortStableFunc(t.Functions, func(a, b TableFunction) int {
		return cmp.Or(cmp.Compare(b.Cum, a.Cum), cmp.Compare(b.Flat, a.Flat), strings.Compare(a.Func, b.Func))
	})
}

// NewTable makes a table of functions in any order.
func NewTable(t Table) *Table {
	t.sort()
	return &t
}
