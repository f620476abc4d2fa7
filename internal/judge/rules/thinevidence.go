package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed thinevidence.md
var thinevidencePage string

// thinevidence speaks about the recording, not the program: it never makes a
// finding, so that it cannot stand before a cause.
var thinevidence = &diagnosis.Rule{
	Name:       "thinevidence",
	Title:      "Too little was recorded",
	Doc:        thinevidencePage,
	Disturbing: true,
	Check:      checkThinevidence,
}

// thinLonger is for how many seconds to record to have enough of everything: 1000 CPU
// samples of one busy core, and a hundred periods of a quota.
const thinLonger = 10

func checkThinevidence(p *diagnosis.Pass) {
	m := p.Model
	if m.Has(model.Trace) {
		switch events := m.Run.Coverage.Events; {
		case m.Run.Duration < diagnosis.ThinWindow:
			p.Unchecked(fact.Sentence("what happens less often than once in %s", p.WindowLength()), "the trace covers only that much", p.RecordAgain(thinLonger, "longer.gowhy"))
		case events > 0 && events < diagnosis.ThinEvents:
			p.Unchecked("patterns", fact.Sentence("the trace holds only %s events; %s begin to show patterns",
				p.Statistic(fact.Generations, "events", "events", float64(events), fact.Count), fact.Name(fact.Count.Format(diagnosis.ThinEvents))), p.RecordAgain(thinLonger, "longer.gowhy"))
		}
	}
	if !m.Has(model.CPU) {
		return
	}
	// Samples inside a trace are an extra: their fewness is said by rules that want them.
	if n := p.SampleCount("samples", "cpu", nil); n.Value < diagnosis.ThinSamples && !m.CPU.FromTrace && m.CPU.Counted() {
		p.Unchecked("shares of CPU time", fact.Sentence("the CPU profile holds %s; below %s, "+
			"a tenth of the CPU shows as anything from less than half of that to half as much again",
			n.Things("sample"), fact.Name(fact.Count.Format(diagnosis.ThinSamples))), p.RecordAgain(thinLonger, "longer.gowhy"))
	}
}
