package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

//go:embed notloaded.md
var notloadedPage string

// notloaded speaks about the recording, not the program: what it has to say
// is the verdict's business and a line under what could not be checked.
var notloaded = &diagnosis.Rule{
	Name:       "notloaded",
	Title:      "The program was not under load",
	Doc:        notloadedPage,
	Disturbing: true,
	Check:      checkNotloaded,
}

func checkNotloaded(p *diagnosis.Pass) {
	cores, of, ok := diagnosis.Busy(p.Model)
	if !ok || cores >= diagnosis.LoadedShare*of {
		return
	}
	busy := p.Statistic(fact.Account, "cores in use", "cores in use", cores, fact.Cores)
	usable := p.Setting("cores that it may use", "GOMAXPROCS, affinity and quota", of, fact.Cores)
	p.Unchecked("what limits the program under load",
		fact.Sentence("it kept %s of %s busy, %s", busy.Number(), usable, fact.Quotient.Of("", fact.Ratio, busy, usable)),
		p.RecordAgain(10, "loaded.gowhy")+"   # while the load runs")
}
