package web

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
)

// A number is followed to the facts that give it, and to none that are beside it.
func TestFactsOf(t *testing.T) {
	facts := []fact.Fact{
		{Name: "share", Value: 0.37, Unit: fact.Ratio},
		{Name: "in use", Value: 1.83, Unit: fact.Cores},
		{Name: "leaked", Value: 1402, Unit: fact.Count},
		{Name: "stack", Value: 4183.148936170212, Unit: fact.Bytes},
		{Name: "stopped", Value: 4.65, Unit: fact.Seconds},
		{Name: "none", Value: 0, Unit: fact.Ratio},
		{Name: "all", Value: 1, Unit: fact.Ratio},
	}
	for _, c := range []struct {
		name         string
		value, share float64
		unit         fact.Unit
		want         []int
	}{
		{"a fact", 1.83, 0.37, fact.Cores, []int{1}},
		{"a share of a whole", 0.37 * 1.83, 0.37, fact.Cores, []int{0, 1}},
		{"a count of sizes", 1402 * 4183.148936170212, 0, fact.Bytes, []int{2, 3}},
		{"a mean", 4.65 / 1402, 0, fact.Seconds, []int{4, 2}},
		{"only its share", 0.2, 0.37, fact.Cores, []int{0}},
		{"what is left of a share", 5.04, 0.63, fact.Cores, []int{0}},
		{"the number of another unit", 1402, 0.5, fact.Bytes, nil},
		{"nearly the same number", 1.8300001, 0.3700001, fact.Cores, nil},
		{"nothing", 0, 0, fact.Cores, nil},
		{"all of it", 7, 1, fact.Cores, nil},
	} {
		if got := factsOf(facts, c.value, c.unit, c.share); !slices.Equal(got, c.want) {
			t.Errorf("%s: facts %v, want %v", c.name, got, c.want)
		}
	}
}

// What a finding costs leads to where its fact does, and a bound that is no fact
// to what its method is about.
func TestBasis(t *testing.T) {
	v := accounts()
	var asked []string
	f := &diagnosis.Finding{
		Groups: []string{"main.worker"},
		Evidence: []fact.Fact{
			{Name: "built", Value: 1, Unit: fact.Count, Source: "build info: -race"},
			{Name: "waiting", Value: 6.5, Unit: fact.Count, Source: "trace: sync waits ÷ window"},
			{Name: "busy Ps", Value: 0.875, Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{Value: 6.5, Unit: fact.Count, What: "goroutines waiting"},
	}
	const sync = "timeline?from=300000000&to=400000000&g=main.worker"
	for _, c := range []struct {
		bound diagnosis.Bound
		facts []int
		to    string
	}{
		{diagnosis.Bound{Value: 4.5, Unit: fact.Ratio, Method: "throughput factor if nobody waited: …"}, nil, sync},
		{diagnosis.Bound{Value: 7, Unit: fact.Ratio, Method: "asymptotic bound: throughput factor (Ps + more) ÷ Ps"}, nil, "timeline?lanes=ps"},
		{diagnosis.Bound{Value: 0.4, Unit: fact.Cores, Method: "Amdahl: as if it cost nothing"}, nil, "flame?kind=cpu"},
		{diagnosis.Bound{Value: 0.4, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Method: "what was never said before"}, nil, "flame?kind=cpu"},
		{diagnosis.Bound{Value: 0.4, Unit: fact.Seconds, Method: "what was never said before"}, nil, sync},
		{diagnosis.Bound{Value: 0.875, Unit: fact.Cores, Method: "Amdahl: all of them"}, []int{2}, "timeline?lanes=ps"},
		{diagnosis.Bound{Value: 61, Unit: fact.Ratio, Method: "throughput factor of this function at the largest size"}, nil, "sources"},
	} {
		f.Bound = c.bound
		got := traced(v, &asked).finding(f)
		if !slices.Equal(got.Cost.Facts, []int{1}) || got.Cost.To != sync {
			t.Errorf("the cost rests on %+v", got.Cost)
		}
		if !slices.Equal(got.Bound.Facts, c.facts) || got.Bound.To != c.to {
			t.Errorf("%s: %+v, want %v, %s", c.bound.Method, got.Bound, c.facts, c.to)
		}
	}
}
