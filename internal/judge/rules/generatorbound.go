package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed generatorbound.md
var generatorboundPage string

// generatorbound is about the evidence: where the generator was the limit, the
// program's figures under load are the generator's.
var generatorbound = &diagnosis.Rule{
	Name:       "generatorbound",
	Title:      "The load generator was the limit",
	Doc:        generatorboundPage,
	Needs:      []model.Source{model.LoadResult},
	Disturbing: true,
	Check:      checkGeneratorbound,
}

const (
	// generatorBusy is the share of the cores it may use from which a generator
	// has none left: at 0.8 of one, sending is late by more than what it measures.
	generatorBusy = 0.8
	// generatorStall is how far the operations of an interval of a closed loop
	// must fall below the usual to show a stall, in which nothing was sent and so
	// nothing was measured as slow, and generatorIntervals the fewest that make
	// something usual.
	generatorStall     = 0.2
	generatorIntervals = 5
)

func checkGeneratorbound(p *diagnosis.Pass) {
	l := p.Model.Load
	if len(l.Benchmarks) > 0 {
		return
	}
	openLoop := p.SteadyLoad("30s")
	if why := generatorLimit(p); why != "" {
		p.Unchecked("how much the program can take", why+". Rate and latency are the generator's as much as the program's: "+
			"offer less, or from another machine", openLoop)
		return
	}
	if n := stalls(l); n > 0 {
		p.Unchecked("the latency under load", fact.Sentence("the load was a closed loop, and in %s of its %s next to nothing ended: "+
			"what would have been sent then was not, so that the percentiles leave the waiting out. An open loop measures it",
			loadFact(p, "intervals that stood still", float64(n), fact.Count), loadFact(p, "intervals", float64(len(l.Over)), fact.Count).Things("interval")), openLoop)
		return
	}
	if l.Generator.Procs > 0 && l.Generator.CPU > 0 {
		used, had := generatorCPU(p)
		p.Fine(fact.Sentence("load generator: it used %s of its %s", used, had.Number()))
	}
}

// generatorCPU returns the cores that the generator used, and those that it had.
func generatorCPU(p *diagnosis.Pass) (used, had fact.Fact) {
	g := &p.Model.Load.Generator
	return loadFact(p, "generator's CPU", g.CPU, fact.Cores), loadFact(p, "generator's cores", float64(g.Procs), fact.Cores)
}

// generatorLimit says why the generator was the limit, "" when it was not or
// tells nothing of itself.
func generatorLimit(p *diagnosis.Pass) string {
	if limit := p.Model.Load.Generator.Limit; limit != "" {
		return "the generator says that it was the limit: " + limit
	}
	if used, had := generatorCPU(p); had.Value > 0 && used.Value >= generatorBusy*had.Value {
		return fact.Sentence("the generator used %s of the %s that it had", used, had.Number())
	}
	return ""
}

// stalls counts the intervals of a closed loop in which next to nothing ended.
// The first and the last are cut short by the run.
func stalls(l *model.Load) (n int) {
	if l.Offered > 0 || len(l.Over) < generatorIntervals+2 {
		return 0
	}
	inner := l.Over[1 : len(l.Over)-1]
	rates := make([]float64, len(inner))
	for i, o := range inner {
		rates[i] = statistics.Quotient(float64(o.Ops), o.Width.Seconds())
	}
	slices.Sort(rates)
	usual := rates[len(rates)/2]
	for _, r := range rates {
		if r < generatorStall*usual {
			n++
		}
	}
	return n
}
