package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// sayWhoSets names first where the program's own source sets what a variable of the environment sets, too.
func sayWhoSets(p *diagnosis.Pass, f *diagnosis.Finding, variable string) {
	var places []diagnosis.Place
	for _, at := range p.Model.SettersOf(variable) {
		place := diagnosis.Place{Function: at.Func, File: at.File, Line: at.Line}
		places = append(places, place)
		f.Reasons = append(f.Reasons, fact.Sentence("the program's source sets %s itself, in %s", fact.Name(variable), fact.Name(code.Line(place))))
	}
	f.Where = code.Places(slices.Concat(places, f.Where)...)
}
