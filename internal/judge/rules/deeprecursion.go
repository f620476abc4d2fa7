package rules

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed deeprecursion.md
var deeprecursionPage string

var deeprecursion = &diagnosis.Rule{
	Name:  "deeprecursion",
	Title: "Recursion deeper than the recorded stacks",
	Doc:   deeprecursionPage,
	// No Needs: either kind of CPU samples will do.
	Check: checkDeeprecursion,
}

const (
	// deepShare is the part of the CPU in stacks without their beginning from which the
	// shares of callers mislead: what hotfunction calls most of the CPU is a tenth.
	deepShare = 0.10
	// deepFrames is the shortest stack that was cut: profiles keep 64 frames until Go 1.22
	// and 128 since, the kernel 127.
	deepFrames = 64
	// deepCalls is how often a function is in a stack that is recursive. Calls that go
	// through one function at several layers (middleware, encoders) have it some times.
	deepCalls = 16
)

// A recursion is what one function does that calls itself in stacks that were cut.
type recursion struct {
	function string
	stacks   []model.Stack // that have it twice or more
	cut      []model.Stack // that begin within it
	depth    int           // most calls of it that a stack shows
}

func checkDeeprecursion(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	r, ok := deepest(p, &s)
	if !ok {
		return
	}
	cut := s.ShareOf("CPU in stacks that are cut within it", code.MatchStacks(r.cut))
	if cut.Value < deepShare {
		return
	}
	p.Report(recursionFinding(p, &s, &r, cut))
}

// recursive returns the function that a cut stack has again and again, of several that call each
// other the program's own and of these the most frequent; "" for a stack that shows where it began.
func recursive(frames []model.Frame) (function string, calls int) {
	if len(frames) < deepFrames {
		return "", 0
	}
	counts := map[string]int{}
	for _, f := range frames {
		counts[f.Func]++
	}
	if counts[frames[len(frames)-1].Func] < deepCalls {
		return "", 0
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n := counts[name]
		own, has := !model.IsStd(name), function != "" && !model.IsStd(function)
		if n >= deepCalls && (function == "" || own && !has || own == has && n > calls) {
			function, calls = name, n
		}
	}
	return function, calls
}

// deepest returns the recursion with most of the CPU in cut stacks.
func deepest(p *diagnosis.Pass, s *cpu.Use) (r recursion, ok bool) {
	nanos := s.Profile.Column("cpu")
	sums, of := map[string]float64{}, map[string]*recursion{}
	for i := range s.Profile.Samples {
		sample := &s.Profile.Samples[i]
		function, calls := recursive(p.Model.Stacks.Frames(sample.Stack))
		if function == "" {
			continue
		}
		if of[function] == nil {
			of[function] = &recursion{function: function}
		}
		sums[function] += sample.Value(nanos)
		of[function].cut = append(of[function].cut, sample.Stack)
		of[function].depth = max(of[function].depth, calls)
	}
	order := statistics.Largest(sums)
	if len(order) == 0 {
		return r, false
	}
	r = *of[order[0]]
	for i := range s.Profile.Samples {
		stack := s.Profile.Samples[i].Stack
		if countOf(p.Model.Stacks.Frames(stack), r.function) > 1 {
			r.stacks = append(r.stacks, stack)
		}
	}
	return r, true
}

// countOf returns how many frames are of a function.
func countOf(frames []model.Frame, function string) (n int) {
	for _, f := range frames {
		if f.Func == function {
			n++
		}
	}
	return n
}

// selfCall returns the line at which the function calls itself, that of most frames.
func (r *recursion) selfCall(m *model.Model) diagnosis.Place {
	counts := map[diagnosis.Place]int{}
	for _, stack := range r.cut {
		for _, f := range m.Stacks.Frames(stack) {
			if f.Func == r.function {
				counts[diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}]++
			}
		}
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(a, b diagnosis.Place) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b.File, a.File), cmp.Compare(b.Line, a.Line))
	})
}

func recursionFinding(p *diagnosis.Pass, s *cpu.Use, r *recursion, cut fact.Fact) diagnosis.Finding {
	share := s.ShareOf("CPU below "+code.Short(r.function)+", which calls itself", code.MatchStacks(r.stacks))
	depth := p.Statistic(fact.Account, "frames of "+r.function, "calls of it in one stack, at most", float64(r.depth), fact.Count).From(s.Believed)
	f := diagnosis.Finding{
		Where:      code.Places(r.selfCall(p.Model)),
		Stacks:     r.stacks,
		Evidence:   []fact.Fact{share, cut, s.InUse(), depth},
		Cost:       s.Cost(share),
		Bound:      noSaving(fact.Cores, diagnosis.CPUGoal, "whether the recursion is needed, and so deep, is not known"),
		Remark:     true,
		Confidence: diagnosis.Low,
		Reasons:    []string{fact.Sentence("the share is sure, from %s samples; that it is too much is not", s.SampleCount())},
		RuledOut:   []string{"recursion that the stacks show to its beginning: only those count as cut whose first frame is within it"},
		Explains:   []string{},
		Remedy: diagnosis.Remedy{
			Text: "Bound the depth, remember what was computed for a subtree, or turn it into a loop with a stack of its own: " +
				"a deep recursion grows and copies the goroutine's stack, and a profiler and the collector walk it. " +
				"Read the function as one: the profile has no caller of it in these stacks, so that callers have smaller " +
				"shares than they cost, and each of its lines has a part of the whole.",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "`go test -bench NAME -count 10` of the function at two sizes tells how its time grows with the depth."),
	}
	f.Say("%s of the CPU in use is below %s, which calls itself: up to %s calls of it fill a stack, "+
		"and %s of the CPU is in stacks that are cut there. Who began it is not in these.", share, code.Name(r.function), depth, cut)
	return f
}
