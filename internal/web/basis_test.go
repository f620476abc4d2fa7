package web

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/diagnosis"
)

// A number is followed to the facts that give it, and to none that are beside it.
func TestFactsOf(t *testing.T) {
	facts := []diagnosis.Fact{
		{Name: "share", Value: 0.37, Unit: diagnosis.Ratio},
		{Name: "in use", Value: 1.83, Unit: diagnosis.Cores},
		{Name: "leaked", Value: 1402, Unit: diagnosis.Count},
		{Name: "stack", Value: 4183.148936170212, Unit: diagnosis.Bytes},
		{Name: "stopped", Value: 4.65, Unit: diagnosis.Seconds},
		{Name: "none", Value: 0, Unit: diagnosis.Ratio},
		{Name: "all", Value: 1, Unit: diagnosis.Ratio},
	}
	for _, c := range []struct {
		name         string
		value, share float64
		unit         diagnosis.Unit
		want         []int
	}{
		{"a fact", 1.83, 0.37, diagnosis.Cores, []int{1}},
		{"a share of a whole", 0.37 * 1.83, 0.37, diagnosis.Cores, []int{0, 1}},
		{"a count of sizes", 1402 * 4183.148936170212, 0, diagnosis.Bytes, []int{2, 3}},
		{"a mean", 4.65 / 1402, 0, diagnosis.Seconds, []int{4, 2}},
		{"only its share", 0.2, 0.37, diagnosis.Cores, []int{0}},
		{"what is left of a share", 5.04, 0.63, diagnosis.Cores, []int{0}},
		{"the number of another unit", 1402, 0.5, diagnosis.Bytes, nil},
		{"nearly the same number", 1.8300001, 0.3700001, diagnosis.Cores, nil},
		{"nothing", 0, 0, diagnosis.Cores, nil},
		{"all of it", 7, 1, diagnosis.Cores, nil},
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
		Evidence: []diagnosis.Fact{
			{Name: "built", Value: 1, Unit: diagnosis.Count, Source: "build info: -race"},
			{Name: "waiting", Value: 6.5, Unit: diagnosis.Count, Source: "trace: sync waits ÷ window"},
			{Name: "busy Ps", Value: 0.875, Unit: diagnosis.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{Value: 6.5, Unit: diagnosis.Count, What: "goroutines waiting"},
	}
	const sync = "timeline?from=300000000&to=400000000&g=main.worker"
	for _, c := range []struct {
		bound diagnosis.Bound
		facts []int
		to    string
	}{
		{diagnosis.Bound{Value: 4.5, Unit: diagnosis.Ratio, Method: "throughput factor if nobody waited: …"}, nil, sync},
		{diagnosis.Bound{Value: 7, Unit: diagnosis.Ratio, Method: "asymptotic bound: throughput factor (Ps + more) ÷ Ps"}, nil, "timeline?lanes=ps"},
		{diagnosis.Bound{Value: 0.4, Unit: diagnosis.Cores, Method: "Amdahl: as if it cost nothing"}, nil, "flame?kind=cpu"},
		{diagnosis.Bound{Value: 0.4, Unit: diagnosis.Cores, Goal: diagnosis.CPUGoal, Method: "what was never said before"}, nil, "flame?kind=cpu"},
		{diagnosis.Bound{Value: 0.4, Unit: diagnosis.Seconds, Method: "what was never said before"}, nil, sync},
		{diagnosis.Bound{Value: 0.875, Unit: diagnosis.Cores, Method: "Amdahl: all of them"}, []int{2}, "timeline?lanes=ps"},
		{diagnosis.Bound{Value: 61, Unit: diagnosis.Ratio, Method: "throughput factor of this function at the largest size"}, nil, "sources"},
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
