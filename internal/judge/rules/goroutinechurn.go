package rules

import (
	"cmp"
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed goroutinechurn.md
var goroutinechurnPage string

var goroutinechurn = &diagnosis.Rule{
	Name:     "goroutinechurn",
	Title:    "CPU spent on starting and ending goroutines",
	Doc:      goroutinechurnPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"stackgrowth"}, // each begins with a small stack
	Check:    checkGoroutinechurn,
}

const (
	// churnRate is how many goroutines a second are worth a look. A consumer
	// that started 45,000 a second lost nothing measurable by it, and gained
	// nothing from a pool, so the rate alone never makes a finding.
	churnRate = 10_000
	// churnShare is the share of CPU in starting and ending them from which
	// the fix can be seen at all: 5% is what twenty interleaved rounds tell
	// from noise on an ordinary machine.
	churnShare = 0.05
	// startingCores is the least that it must cost, in cores. The consumer of the lab is well and starts
	// as many for 0.034 to 0.052 cores on one machine and 0.10 to 0.15 on a slower one, up to half of the
	// little that it uses; a pool took as much. None of the lab's programs is ill by this alone: the
	// upper side is reasoned, twice the dearest that is well.
	startingCores = 0.3
)

// churnFunctions are the runtime's way in and out of a goroutine.
// runtime.goexit is not among them: it is at the root of every stack.
var churnFunctions = []string{
	"runtime.newproc", "runtime.newproc1", "runtime.newproc.func1", "runtime.malg",
	"runtime.gfget", "runtime.gfput", "runtime.goexit0", "runtime.goexit1", "runtime.gdestroy",
}

func checkGoroutinechurn(p *diagnosis.Pass) {
	groups := createdMost(p)
	created := startedIn(p, groups)
	rate := fact.Quotient.Of("goroutines started", fact.PerSec, created, p.WindowLength())
	if rate.Value < churnRate {
		return
	}
	if samples := p.SampleCount("CPU samples", "cpu", nil); samples.Value < diagnosis.ThinSamples {
		p.Unchecked(fact.Sentence("what %s new goroutines a second cost", rate.Number()),
			fact.Sentence("the rate alone says nothing, and there are %s CPU samples", samples),
			p.HowToGet(model.CPU))
		return
	}
	share := p.SampleShare("CPU in starting and ending goroutines", "cpu", p.Frames(startsOrEnds))
	if share.Value < churnShare || share.Value*cpu.ProfiledCPU(p).Value < startingCores {
		p.Fine(fact.Sentence("goroutine churn: %s started a second cost %s of the CPU", rate.Number(), share))
		return
	}
	if 2*startedIn(p, ofLibrary(p, groups)).Value >= created.Value {
		p.Fine(fact.Sentence("goroutine churn: %s started a second cost %s of the CPU; most are the standard library's own, like %s",
			rate.Number(), share, code.Name(code.GroupName(groups[0].Name))))
		return
	}
	f := churnFinding(p, groups, rate, share)
	if packages, known := code.ProgramPackages(p.Model), p.Model.Build != nil && p.Model.Build.Module != ""; known && !code.StartsWith(f.Where[0].Function, packages) {
		f.Remark = true
		f.Reasons = append(f.Reasons, "a library starts them: only how often and for what it is called is yours to tell")
		f.Where = code.Places(append(f.Where, code.ProgramPlace(p, groups[0].Creator))...)
	}
	p.Report(f)
}

func startedIn(p *diagnosis.Pass, groups []*model.Group) fact.Fact {
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
	}
	return p.Goroutines("goroutines created", names, "created")
}

// startsOrEnds reports whether a sample is of a goroutine's start or end.
func startsOrEnds(frames []model.Frame) bool {
	return code.ContainsAny(frames, churnFunctions)
}

// ofLibrary returns the groups that the standard library starts and runs, as
// net/http's server does for each request: there is nothing to change in the
// program. A benchmark of net/http spends 6% of its CPU so.
func ofLibrary(p *diagnosis.Pass, groups []*model.Group) (out []*model.Group) {
	for _, g := range groups {
		if _, user := p.GroupPlace(g); !user {
			out = append(out, g)
		}
	}
	return out
}

// createdMost returns the groups with new goroutines, most first.
func createdMost(p *diagnosis.Pass) (gs []*model.Group) {
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; g.Created > 0 && !g.System {
			gs = append(gs, g)
		}
	}
	slices.SortStableFunc(gs, func(a, b *model.Group) int { return cmp.Compare(b.Created, a.Created) })
	return gs
}

func churnFinding(p *diagnosis.Pass, groups []*model.Group, rate, share fact.Fact) diagnosis.Finding {
	g := groups[0]
	creator, _ := p.UserPlace(g.Creator)
	start, _ := p.GroupPlace(g)
	used := cpu.ProfiledCPU(p)
	f := diagnosis.Finding{
		Where: code.Places(creator, start),
		Evidence: []fact.Fact{
			rate, share, p.SampleCount("CPU samples in them", "cpu", p.Frames(startsOrEnds)),
			fact.Quotient.Of("work of one goroutine, mean", fact.Seconds,
				p.Goroutines("time that they ran", []string{g.Name}, "running"), p.Goroutines("goroutines", []string{g.Name}, "count")),
		},
		Cost: diagnosis.CostOf(fact.Product.Of(share.Name, fact.Cores, share, used), share.Value),
		Bound: diagnosis.Direction(fact.Saving.Of(share.Name, fact.Cores, share, used), diagnosis.CPUGoal, share.Value,
			"a pool puts a channel in its place, which costs as well; scheduling them comes on top"),
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace counts the goroutines and the CPU profile shows their cost"},
		RuledOut:   []string{"a high rate that costs nothing: the CPU profile has the runtime's share"},
		Remedy: diagnosis.Remedy{
			Text: "Give each goroutine more to do: start one for a batch of items, or run the item where it is when it never blocks. " +
				"A pool of workers is a hypothesis to be measured, not a fix: " +
				"in the consumer that this rule was made after it changed nothing.",
			Code: "for batch := range slices.Chunk(items, 64) {\n\tgo func() {\n\t\tfor _, it := range batch {\n\t\t\thandle(it)\n\t\t}\n\t}()\n}",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Goroutines started per operation are a count and show whether the change did what it was meant to, "+
			"but not that it helped: a pool starts none and may cost as much. "+
			"If CPU time per operation stays the same, this finding is refuted."),
	}
	f.Say("%s goroutines a second are started and ended, most of them %s, and %s of the CPU goes into that.", rate.Number(), code.Name(code.GroupName(g.Name)), share)
	for _, g := range groups[:min(len(groups), 3)] {
		f.Groups = append(f.Groups, g.Name)
	}
	return f
}
