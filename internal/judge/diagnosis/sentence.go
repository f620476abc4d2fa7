package diagnosis

import (
	"slices"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// Say makes the finding's sentence. Facts in it that are not in the evidence
// yet, nor the cost or the bound, are added there.
func (f *Finding) Say(format string, parts ...fact.Part) {
	f.Summary = fact.Sentence(format, parts...)
	for _, p := range parts {
		if n, ok := p.(fact.Fact); ok {
			f.Rest(n)
		}
	}
}

// Rest adds facts that the finding rests on to its evidence, each once.
func (f *Finding) Rest(facts ...fact.Fact) {
	for _, n := range facts {
		if !slices.ContainsFunc(f.Evidence, n.Same) && !n.Same(f.Cost.Fact()) && !n.Same(f.Bound.Fact()) {
			f.Evidence = append(f.Evidence, n)
		}
	}
}
