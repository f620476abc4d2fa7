package rules

import (
	_ "embed"
	"fmt"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed stackgrowth.md
var stackgrowthPage string

var stackgrowth = &diagnosis.Rule{
	Name:  "stackgrowth",
	Title: "Goroutines outgrow their stacks again and again",
	Doc:   stackgrowthPage,
	// No Needs: either kind of CPU samples will do.
	Check: checkStackgrowth,
}

const (
	// stackgrowthShare is the share of the CPU in growing stacks: the story's
	// programs were at 16 to 31 %, one that starts a goroutine with a frame of
	// some KiB for each piece of work is at 41 %; a server whose goroutines grow
	// once each is at 3 to 5 %, one that keeps its goroutines at none.
	stackgrowthShare = 0.06
	// stackgrowthCores is the least that it must take, in cores. A thousand
	// clients that come to stay grow the stacks of their goroutines once: 0.02
	// cores of the few seconds in which they come.
	stackgrowthCores = 0.05
	// stackgrowthNamed is how many functions a finding names.
	stackgrowthNamed = 3
)

func checkStackgrowth(p *diagnosis.Pass) {
	s, ok := spentCPU(p)
	if !ok {
		return
	}
	share := s.part(model.StackGrowth)
	if share < stackgrowthShare || share*s.Cores() < stackgrowthCores {
		p.Fine(fmt.Sprintf("stacks: growing them takes %s of the CPU, %s cores", pct(share), num(share*s.Cores())))
		return
	}
	p.Report(stackFinding(p, &s, share))
}

// grows reports whether a sample is of a stack that is being grown.
func grows(frames []model.Frame) bool { return model.CPUPartOf(frames) == model.StackGrowth }

func stackFinding(p *diagnosis.Pass, s *cpuSpent, share float64) diagnosis.Finding {
	sites := s.places(p.Model, grows)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("Growing and copying goroutines' stacks takes %s of the CPU in use.", pct(share)),
		Where:   topPlaces(sites, stackgrowthNamed),
		Stacks:  topStacks(sites, stackgrowthNamed),
		Evidence: []fact.Fact{
			{Name: "CPU in growing stacks", Value: share, Unit: fact.Ratio, Source: s.from()},
			{Name: "CPU in use", Value: s.Cores(), Unit: fact.Cores, Source: s.from()},
		},
		Cost: diagnosis.Cost{Value: share * s.Cores(), Unit: fact.Cores, Share: share, What: "CPU in growing and copying stacks"},
		Bound: diagnosis.Bound{
			Value: share * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method: "Amdahl: as if no stack grew; goroutines that are kept grow theirs once",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fmt.Sprintf("one kind of evidence, the %s, with %s samples", s.source, num(s.Samples))},
		RuledOut: []string{
			"walking stacks for a profiler, a log line or the collector: only what runs under runtime.newstack is counted",
		},
		Remedy: diagnosis.Remedy{
			Text: "A goroutine begins with a small stack, about the average size that the last collection saw, and each doubling copies all of it. Move what is large off the stack of short-lived goroutines: an array or a big value in the frames named here becomes a buffer that is reused. Turn deep recursion into a loop. Or let the same goroutines do many pieces of work, so that each grows once; measure that, for a pool of goroutines made one measured program up to 26 % worse.",
			Code: "for task := range tasks { // in a few goroutines that stay\n\thandle(task, buf)\n}",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "The share of runtime.newstack in a new profile must fall with it. A test without code: if `GODEBUG=adaptivestackstart=0` makes it worse, growing is the cost."),
	}
	if len(sites) > 0 {
		f.Summary = fmt.Sprintf("Growing and copying goroutines' stacks takes %s of the CPU in use, %s of that in calls of %s.",
			pct(share), pct(min(1, div(sites[0].share, sitesShare(sites)))), short(sites[0].Function))
	}
	f.Evidence = append(f.Evidence, stackFacts(p)...)
	f.Groups = groupsOfStacks(p.Model, f.Stacks)
	return f
}

func sitesShare(sites []cpuPlace) (share float64) {
	for _, s := range sites {
		share += s.share
	}
	return share
}

// stackFacts tells how many goroutines pay, and from what they start.
func stackFacts(p *diagnosis.Pass) (out []fact.Fact) {
	if size := metricNow(p.Model, metricStackStart); size > 0 {
		out = append(out, fact.Fact{Name: "stack that a new goroutine gets", Value: size, Unit: fact.Bytes, Source: "metrics: " + metricStackStart})
	}
	if rate, ok := p.Model.Metrics.Rate(metricCreated); ok {
		out = append(out, fact.Fact{Name: "goroutines created", Value: rate, Unit: fact.PerSec, Source: "metrics: " + metricCreated})
	}
	return out
}
