package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// nameGrown puts the places where more is in use into a finding, and returns their part of
// what is in use more.
func nameGrown(p *diagnosis.Pass, f *diagnosis.Finding, places []memory.GrowingLine) fact.Fact {
	more := func(name string, match fact.Where) fact.Fact {
		return fact.Difference.Of(name, fact.Bytes, p.Samples("in use at the end", "inuse_space", match), p.SamplesAtStart("in use at the start", "inuse_space", match))
	}
	var named []fact.Fact
	for _, g := range places {
		f.Where = append(f.Where, g.Place)
		f.Stacks = append(f.Stacks, g.Stacks...)
		named = append(named, more("more in use from "+code.Line(g.Place), code.MatchStacks(g.Stacks)))
	}
	f.Rest(named...)
	for _, g := range places {
		if made := p.Samples("objects made at "+code.Line(g.Place), "alloc_objects", code.MatchStacks(g.Stacks)); made.Value > 0 {
			f.Rest(fact.Fraction.Of("part of the objects made at "+code.Line(g.Place)+" that is still there", fact.Ratio, memory.ObjectGrowth(p, g.Stacks), made))
		}
	}
	return fact.Fraction.Of("their part of the growth", fact.Ratio, fact.Sum.Of("more in use from these lines", fact.Bytes, named...), more("more in use", nil))
}
