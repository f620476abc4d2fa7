package rules

import (
	_ "embed"
	"fmt"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed thinevidence.md
var thinevidencePage string

// thinevidence speaks about the recording, not the program: it never makes a
// finding, so that it cannot stand before a cause.
var thinevidence = &diagnosis.Rule{
	Name:    "thinevidence",
	Title:   "Too little was recorded",
	Doc:     thinevidencePage,
	Untimed: true,
	Check:   checkThinevidence,
}

// thinLonger is the command that gives enough of everything: ten seconds are
// 1000 CPU samples of one busy core, and a hundred periods of a quota.
const thinLonger = "gowhy record -d 10s -o longer.gowhy -- COMMAND"

func checkThinevidence(p *diagnosis.Pass) {
	m := p.Model
	if m.Has(model.Trace) {
		switch w, events := m.Run.Duration, m.Run.Coverage.Events; {
		case w < diagnosis.ThinWindow:
			p.Unchecked("what happens less often than once in "+dur(w),
				"the trace covers only that much", thinLonger)
		case events > 0 && events < diagnosis.ThinEvents:
			p.Unchecked("anything but single events",
				fmt.Sprintf("the trace holds %s events; %s begin to show patterns", num(events), num(diagnosis.ThinEvents)), thinLonger)
		}
	}
	if !m.Has(model.CPU) {
		return
	}
	// Samples inside a trace are an extra: their fewness is said by rules that want them.
	if _, n := diagnosis.CPUTime(m); n < diagnosis.ThinSamples && !m.CPU.FromTrace {
		p.Unchecked("shares of CPU time",
			fmt.Sprintf("the CPU profile holds %s; below %d a true 10 %% shows as anything from 4 to 16 %%", many(n, "sample"), diagnosis.ThinSamples), thinLonger)
	}
}
