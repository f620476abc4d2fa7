package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// keptWhose is the part of what is still in use that a place must have made to be named.
const keptWhose = 0.3

// mostKept finds the place that made most of what is still in use at the end, of the samples that match: what
// they are, and what tells one place from others.
func mostKept(p *diagnosis.Pass, what string, name func(diagnosis.Place) string, match func(*model.Sample) bool) (places []diagnosis.Place, stacks []model.Stack, part fact.Fact) {
	heap := p.Model.LiveHeap.End
	if heap == nil {
		return nil, nil, part
	}
	by := func(s *model.Sample) string {
		if place, ok := p.UserPlace(s.Stack); ok && match(s) {
			return name(place)
		}
		return ""
	}
	most := slices.DeleteFunc(p.Largest("inuse_space", by), func(n string) bool { return n == "" })
	if len(most) == 0 {
		return nil, nil, part
	}
	bytes := heap.Column("inuse_space")
	for i := range heap.Samples {
		if s := &heap.Samples[i]; by(s) == most[0] && s.Value(bytes) > 0 {
			place, _ := p.UserPlace(s.Stack)
			places, stacks = append(places, place), append(stacks, s.Stack)
		}
	}
	part = fact.Fraction.Of("part of the "+what+" in use", fact.Ratio,
		p.Samples(what+" of "+most[0], "inuse_space", func(s *model.Sample) bool { return by(s) == most[0] }), p.Samples(what+" in use", "inuse_space", match))
	if part.Value < keptWhose {
		return nil, nil, part
	}
	return code.Places(places...), stacks, part
}
