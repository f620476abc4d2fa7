package diagnosis

import (
	"cmp"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// loadAccount lists what a load test measured, failures before everything else.
func loadAccount(p fact.Meter) *Account {
	l := p.Model.Load
	if l.Ops <= 0 || len(l.Benchmarks) > 0 {
		return nil
	}
	number := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.LoadResults, cmp.Or(l.Tool, "load"), name, v, u)
	}
	a := &Account{}
	ops := number("operations", float64(l.Ops), fact.Count)
	switch share := fact.Quotient.Of("failed part", fact.Ratio, number("failed", float64(l.Failed), fact.Count), ops); {
	case l.Failed == l.Ops && l.Ops == 1:
		a.Text = "The one operation failed"
	case l.Failed == l.Ops:
		a.Text = fact.Sentence("All %s operations failed", ops)
	case l.Failed > 0:
		a.Text = fact.Sentence("%s of %s operations failed", share, ops)
	default:
		a.Text = fact.Sentence("%s, and none failed", ops.Things("operation"))
	}
	if len(l.Crossed) > 0 {
		a.Text += ", and the test crossed a threshold of its own"
	}
	if rate := number("finished", l.Rate, fact.PerSec); l.Rate > 0 {
		a.Text += fact.Sentence("; %s finished", rate)
		if offered := number("offered", l.Offered, fact.PerSec); l.Offered > 0 {
			a.Text += fact.Sentence(" of %s offered", offered)
		}
	}
	a.Text += "."
	for _, k := range l.Failures[:min(len(l.Failures), accountRows)] {
		if k.N > 0 {
			a.Rows = append(a.Rows, AccountRow{Name: "failed: " + k.What, Value: number("failed: "+k.What, float64(k.N), fact.Count), Share: ratio(float64(k.N), float64(l.Ops))})
		}
	}
	if l.Failed == l.Ops {
		return a // how fast it failed says nothing
	}
	for _, q := range l.Latency {
		if name, ok := map[float64]string{0.5: "half took no longer", 0.99: "99 in 100 took no longer", 1: "the longest"}[q.Q]; ok && q.Value > 0 { // ab rounds to milliseconds
			a.Rows = append(a.Rows, AccountRow{Name: name, Value: number(name, q.Value.Seconds(), fact.Seconds)})
		}
	}
	return a
}
