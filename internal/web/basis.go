package web

import (
	"cmp"
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/timeline"
)

// From what a finding costs, and from what its cure brings at most, to what
// these two numbers rest on.
//
// Neither says where it comes from, as facts do, but both are computed from
// facts. So the facts are looked for that give the number: one that is it, two
// whose product or quotient it is, or one that is its share of the whole. A
// number has some fifteen digits, and chance does not find it twice. What is
// computed from more than two, or from what is no fact, leads to the place that
// shows what it is made of, by the words that it begins with: a cost says what
// is counted, a bound by which method.

// cost is what the cost of a finding rests on; evidence are the links of its facts.
func (l *linker) cost(main *sourceKind, f *diagnosis.Finding, evidence []string) Basis {
	facts := factsOf(f.Evidence, f.Cost.Value, f.Cost.Unit, f.Cost.Share)
	return Basis{Facts: facts, To: cmp.Or(placeOf(facts, evidence), l.inputs(beginning(costs, f.Cost.What), main))}
}

// bound is what the bound of a finding rests on.
func (l *linker) bound(main *sourceKind, f *diagnosis.Finding, evidence []string) Basis {
	facts := factsOf(f.Evidence, f.Bound.Value, f.Bound.Unit, f.Bound.Share)
	method := beginning(methods, f.Bound.Method)
	if method == nil && f.Bound.Goal == diagnosis.CPUGoal {
		method = beginning(methods, "Amdahl") // what else can be computed of CPU time
	}
	return Basis{Facts: facts, To: cmp.Or(placeOf(facts, evidence), l.inputs(method, main))}
}

// placeOf is the first place of some facts that shows a measurement, and not
// only that there is one.
func placeOf(facts []int, evidence []string) string {
	for _, i := range facts {
		if evidence[i] != "" && evidence[i] != "sources" {
			return evidence[i]
		}
	}
	return ""
}

// inputs is the place that shows what a number is made of, or else what the
// finding rests on most.
func (l *linker) inputs(k, main *sourceKind) string {
	if k == nil {
		k = main
	}
	if k.text {
		return "sources"
	}
	return cmp.Or(l.shown(k), l.shown(main), l.goroutinesOf(k), l.goroutinesOf(main),
		l.flameWith(everyTree, l.function()), l.anything(), "sources")
}

// shown is the picture of a kind, "" where the run has none.
func (l *linker) shown(k *sourceKind) string {
	return cmp.Or(l.timelineOf(k, l.stateOf(k, nil)), l.stops(k), l.flame(k, l.function()), l.chart(k))
}

// costs are how costs begin to say what they count, and what shows it; where
// there is no line, it is what the finding rests on most.
var costs = []sourceKind{
	{prefix: "CPU that others had", charts: []string{"machine", "pressure"}},
	{prefix: "CPU", trees: []string{"cpu", "kernel"}, charts: []string{"cpu"}},
	{prefix: "Ps ", lanes: "ps", charts: []string{"procs"}},
	{prefix: "threads looking", lanes: "ps", charts: []string{"procs"}},
}

// methods are how the methods of bounds begin, and what shows their inputs. A
// rule with a formula of a new kind adds its line here.
var methods = []sourceKind{
	{prefix: "Amdahl", trees: []string{"cpu", "kernel"}, charts: []string{"cpu"}},
	{prefix: "GC model", lanes: "gc", charts: []string{"gc", "heap"}},
	{prefix: "throughput factor by the GC", lanes: "gc", charts: []string{"gc", "heap"}},
	{prefix: "throughput factor of this function", text: true}, // of benchmarks
	{prefix: "throughput factor of work", charts: []string{"machine", "pressure", "cpu"}},
	{prefix: "throughput factor", goroutines: true, state: timeline.Sync, charts: []string{"procs", "cpu"}},
	{prefix: "asymptotic bound", lanes: "ps", charts: []string{"procs", "cpu"}},
	{prefix: "goroutines ", goroutines: true, anyState: true, charts: []string{"goroutines"}},
	{prefix: "the largest number alive", goroutines: true, anyState: true, charts: []string{"goroutines"}},
	{prefix: "threads ", charts: []string{"threads"}},
	{prefix: "what is resident", charts: []string{"memory", "heap"}},
}

// factsOf are the facts that a number is computed from, by their indices: none
// when it takes more than two.
func factsOf(list []fact.Fact, value float64, unit fact.Unit, share float64) []int {
	if i := slices.IndexFunc(list, func(f fact.Fact) bool { return f.Unit == unit && same(f.Value, value) }); i >= 0 {
		return []int{i}
	}
	if pair := pairOf(list, value, unit); pair != nil {
		return pair
	}
	isShare := func(f fact.Fact) bool {
		return f.Unit == fact.Ratio && share != 1 && (same(f.Value, share) || same(1-f.Value, share))
	}
	if i := slices.IndexFunc(list, isShare); i >= 0 {
		return []int{i}
	}
	return nil
}

// pairOf are two facts of which a number is the product or the quotient. One of
// them has its unit and the other one none. A factor is said first, for the whole
// that it is of is the same for many.
func pairOf(list []fact.Fact, value float64, unit fact.Unit) []int {
	for i, f := range list {
		if f.Unit != unit {
			continue
		}
		for j, by := range list {
			pure := by.Unit == fact.Ratio || by.Unit == fact.Count
			switch {
			case i == j || !pure:
			case same(f.Value*by.Value, value):
				return []int{j, i}
			case same(f.Value/by.Value, value):
				return []int{i, j}
			}
		}
	}
	return nil
}

// same reports whether two numbers differ only by the rounding of their
// arithmetic. Zero is the same as much that has nothing to do with it.
func same(a, b float64) bool {
	return a != 0 && math.Abs(a-b) <= 1e-9*math.Abs(b)
}
