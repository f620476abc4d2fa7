package rules

import (
	"cmp"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What load tests measured.

const (
	// failedShare is the part of operations that no test of a service that is well has:
	// objectives of services allow a thousandth to a hundredth. A load test that kills
	// its last requests at its end has a connection's worth of them.
	failedShare = 0.01
	// failedLeast is the fewest failures that are more than the end of a test.
	failedLeast = 3
)

// loadFails reports whether more of the load's operations failed than do where all is well.
func loadFails(l *model.Load) bool {
	return l.Failed >= failedLeast && float64(l.Failed) >= failedShare*float64(l.Ops)
}

// loadFact returns a number of the load's result.
func loadFact(p *diagnosis.Pass, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.LoadResults, cmp.Or(p.Model.Load.Tool, "load"), name, v, u)
}

// operationRate returns how many units of work the program did a second, and what they are; 0
// when nothing tells.
func operationRate(p *diagnosis.Pass) (rate fact.Fact, name fact.Name) {
	o := p.Model.Operations()
	if o == nil {
		return fact.Fact{}, ""
	}
	count := p.Statistic(fact.LoadResults, o.From, o.Name, o.Count, fact.Count).From(o.Source)
	return fact.Quotient.Of(o.Name+" a second", fact.PerSec, count, p.WindowLength()), fact.Name(o.Name)
}
