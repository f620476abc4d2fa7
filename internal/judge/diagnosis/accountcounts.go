package diagnosis

import (
	"cmp"
	"slices"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// countRows is how many counts an account keeps.
const countRows = 6

// countsAccount lists what perf stat or strace counted: calls by their number, or the events
// that were asked for.
func countsAccount(c *model.Counts) *Account {
	if len(c.Inits) > 0 {
		return initsAccount(c)
	}
	a := &Account{Source: model.Counted}
	window := fact.CountedFact("time that went by", c, c.Window.Seconds(), fact.Seconds, "time")
	all := fact.CountedFact("system calls counted", c, c.AllCalls(), fact.Count, "count")
	cpu := fact.CountedFact("CPU time", c, c.CPU.Seconds(), fact.Seconds, "time")
	switch {
	case len(c.Calls) > 0:
		a.Text = fact.Sentence("%s system calls of "+plainKinds(len(c.Calls)), all)
		if c.Window > 0 {
			a.Text += fact.Sentence(" in %s", window)
		}
		a.Text += fact.Sentence("; %s of them %s.", fact.Name(fact.Ratio.Format(ratio(c.Calls[0].N, all.Value))), fact.Name(c.Calls[0].Name))
	case c.CPU > 0 && c.Window > 0:
		a.Text = fact.Sentence("%s of CPU time in %s, %s.", cpu, window, fact.Quotient.Of("cores in use", fact.Cores, cpu, window))
	default:
		a.Text = fact.Sentence("Events of %s.", fact.Name(c.Tool))
	}
	for _, e := range c.Calls[:min(len(c.Calls), countRows)] {
		row := countRow(c, &e)
		row.Share = ratio(e.N, all.Value)
		a.Rows = append(a.Rows, row)
	}
	for _, e := range c.Events[:min(len(c.Events), countRows-len(a.Rows))] {
		a.Rows = append(a.Rows, countRow(c, &e))
	}
	return a
}

// plainKinds says that there are several kinds, or one.
func plainKinds(n int) string {
	if n == 1 {
		return "one kind"
	}
	return "those that were counted"
}

func countRow(c *model.Counts, e *model.Count) AccountRow {
	row := AccountRow{Name: e.Name, Value: fact.CountedFact(e.Name, c, e.N, fact.Count, "count", e.Name)}
	if c.Window > 0 {
		row.Note = fact.Sentence("%s", fact.Quotient.Of("a second", fact.PerSec, row.Value, fact.CountedFact("time that went by", c, c.Window.Seconds(), fact.Seconds, "time")))
	}
	if e.Errors > 0 {
		row.Note = fact.Sentence("%s of them failed", fact.CountedFact("failed", c, float64(e.Errors), fact.Count, "errors", e.Name))
	}
	return row
}

// initsAccount returns how long packages took to initialise themselves, the longest first.
func initsAccount(c *model.Counts) *Account {
	a := &Account{Source: model.Counted}
	all := fact.CountedFact("initialising packages", c, c.Initialising().Seconds(), fact.Seconds, "time")
	last := c.Inits[len(c.Inits)-1]
	a.Text = fact.Sentence("Of the first %s of the process initialising took %s, in %s packages.",
		fact.CountedFact("until the last package was initialised", c, (last.At+last.Took).Seconds(), fact.Seconds, "until"), all,
		fact.CountedFact("packages", c, float64(len(c.Inits)), fact.Count, "packages"))
	list := slices.Clone(c.Inits)
	slices.SortStableFunc(list, func(x, y model.Init) int { return cmp.Compare(y.Took, x.Took) })
	for _, one := range list[:min(len(list), countRows)] {
		a.Rows = append(a.Rows, AccountRow{
			Name:  one.Package,
			Value: fact.CountedFact(one.Package, c, one.Took.Seconds(), fact.Seconds, "time", one.Package),
			Share: ratio(one.Took.Seconds(), all.Value),
			Note: fact.Sentence("%s in %s allocations", fact.CountedFact("bytes", c, one.Bytes, fact.Bytes, "bytes", one.Package),
				fact.CountedFact("allocations", c, one.Allocs, fact.Count, "allocations", one.Package)),
		})
	}
	return a
}
