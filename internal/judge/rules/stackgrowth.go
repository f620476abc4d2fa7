package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed stackgrowth.md
var stackgrowthPage string

var stackgrowth = &diagnosis.Rule{
	Name:  "stackgrowth",
	Title: "Goroutine stacks are grown and copied repeatedly",
	Doc:   stackgrowthPage,
	// No Needs: either kind of CPU samples will do.
	Check: checkStackgrowth,
}

const (
	// stackgrowthShare is the share of the CPU in growing stacks: the story's
	// programs were at 16 to 31%, one that starts a goroutine with a frame of
	// some KiB for each piece of work is at 41%; a server whose goroutines grow
	// once each is at 3 to 5%, one that keeps its goroutines at none.
	stackgrowthShare = 0.06
	// stackgrowthCores is the least that it must take, in cores. A thousand
	// clients that come to stay grow the stacks of their goroutines once: 0.02
	// cores of the few seconds in which they come.
	stackgrowthCores = 0.05
	// stackgrowthNamed is how many functions a finding names.
	stackgrowthNamed = 3
)

func checkStackgrowth(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	share := p.CPUPart("CPU in growing and copying stacks", model.StackGrowth)
	if cores := s.CoresOf(share); share.Value < stackgrowthShare || cores.Value < stackgrowthCores {
		p.Fine(fact.Sentence("stacks: growing them takes %s of the CPU, %s", share, cores))
		return
	}
	p.Report(stackFinding(p, &s, share))
}

// grows reports whether a sample is of a stack that is being grown.
func grows(frames []model.Frame) bool { return model.CPUPartOf(frames) == model.StackGrowth }

func stackFinding(p *diagnosis.Pass, s *cpu.Use, share fact.Fact) diagnosis.Finding {
	sites := s.Places(p.Model, grows)
	f := diagnosis.Finding{
		Where:      cpu.Places(sites, stackgrowthNamed),
		Stacks:     cpu.Stacks(sites, stackgrowthNamed),
		Evidence:   append([]fact.Fact{share, s.InUse()}, stackFacts(p)...),
		Cost:       s.Cost(share),
		Bound:      s.Direction(s.MaxSaving("growing stacks", grows), "goroutines that are kept grow theirs once; calls that need no such stack save their own time, too"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.Witness()},
		RuledOut: []string{
			"walking stacks for a profiler, a log line or the collector: only what runs under runtime.newstack is counted",
		},
		Remedy: stackRemedy(),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The share of runtime.newstack in a new profile must fall with it. "+
			"A test without code: if `GODEBUG=adaptivestackstart=0` makes it worse, growing is the cost."),
	}
	f.Groups = code.GroupsOfStacks(p.Model, f.Stacks)
	if len(sites) == 0 {
		sayWhoseStack(p, s, &f, share)
		return f
	}
	f.Say("Growing and copying goroutines' stacks takes %s of the CPU in use, %s of that in calls of %s.",
		share, s.FirstPart(sites, s.ShareAt("CPU in growing stacks of the program's functions", sites...)), code.Name(sites[0].Function))
	return f
}

// sayWhoseStack names a function that calls itself as deep as stacks are cut, where the samples of growing
// name nobody: what grows is its stack.
func sayWhoseStack(p *diagnosis.Pass, s *cpu.Use, f *diagnosis.Finding, share fact.Fact) {
	r, ok := deepest(p, s)
	if cut := s.ShareOf("CPU in stacks that are cut within it", code.MatchStacks(r.cut)); !ok || cut.Value < deepShare {
		f.Say("Growing and copying goroutines' stacks takes %s of the CPU in use.", share)
		return
	}
	at := r.selfCall(p.Model)
	f.Where, f.Stacks = code.Places(at), r.stacks
	f.Reasons = append(f.Reasons, "the samples of growing name no function; stacks that are cut at their limit are of one that calls itself")
	f.Say("Growing and copying goroutines' stacks takes %s of the CPU in use; %s calls itself, as deep as stacks are seen.", share, code.Name(at.Function))
}

func stackRemedy() diagnosis.Remedy {
	return diagnosis.Remedy{
		Text: "Move what is large off the stack of short-lived goroutines: " +
			"an array or a big value in the frames named here becomes a buffer that is reused. " +
			"Turn deep recursion into a loop. Or let the same goroutines do many pieces of work, so that each grows once; " +
			"measure that, for a pool of goroutines made one measured program up to 26% worse. " +
			"A goroutine begins with a small stack, about the average size that the last collection saw, " +
			"and each doubling copies all of it.",
		Code: "for task := range tasks { // in a few goroutines that stay\n\thandle(task, buf)\n}",
	}
}

// stackFacts tells how many goroutines pay, and from what they start.
func stackFacts(p *diagnosis.Pass) (out []fact.Fact) {
	if size := p.Metric("stack that a new goroutine gets", memory.MetricStackStart, fact.Last); size.Value > 0 {
		out = append(out, size)
	}
	if _, ok := p.Model.Metrics.Rate(memory.MetricCreated); ok {
		out = append(out, p.Metric("goroutines created", memory.MetricCreated, fact.Rate))
	}
	return out
}
