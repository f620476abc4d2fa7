package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed cgocalls.md
var cgocallsPage string

var cgocalls = &diagnosis.Rule{
	Name:  "cgocalls",
	Title: "Much of the CPU goes into crossing between Go and C",
	Doc:   cgocallsPage,
	Needs: []model.Source{model.MetricsLog},
	Check: checkCgocalls,
}

const (
	// cgoRate is how many calls a second are many, the catalogue's figure: at
	// 40 to 60 ns each that is half a percent of a core.
	cgoRate = 100_000
	// cgoShare is the share of the CPU that goes into crossing, and not into
	// what was called. A loop that calls a C function which adds one is at 0.38 of
	// samples with the caller in them, one whose C function takes 1.4 µs at 0.10,
	// one of 18 µs at 0.01.
	cgoShare = 0.05
	// cgoNamed is how many callers a finding names.
	cgoNamed = 3
)

// metricCgo counts calls from Go to C.
const metricCgo = "/cgo/go-to-c-calls:calls"

func checkCgocalls(p *diagnosis.Pass) {
	rate, ok := p.Model.Metrics.Rate(metricCgo)
	if !ok || rate < cgoRate/10 {
		return // no word about C in a program without
	}
	s, sampled := spentCPU(p)
	if rate < cgoRate {
		p.Fine(fmt.Sprintf("calls to C: %s a second", num(rate)))
		return
	}
	if !sampled {
		p.Unchecked("what calls to C cost", fmt.Sprintf("there are %s a second, and too few CPU samples to tell their price", num(rate)), diagnosis.HowToGet(model.CPU))
		return
	}
	sites, share := s.functions(p.Model, crosses), s.seen(p.Model, crosses)
	if share < cgoShare {
		p.Fine(fmt.Sprintf("calls to C: %s a second, and crossing takes %s of the CPU", num(rate), pct(share)))
		return
	}
	p.Report(cgoFinding(&s, sites, rate, share))
}

// crosses reports whether a sample is of the way into C or back: in the
// runtime's own functions under a call, and not in C. asmcgocall at the leaf is
// C: its functions have no names there.
func crosses(frames []model.Frame) bool {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == "runtime.cgocall" })
	if i < 0 {
		return false
	}
	for _, f := range frames[:i] {
		if !strings.HasPrefix(f.Func, "runtime.") || strings.HasPrefix(f.Func, "runtime.asmcgocall") || f.Func == "runtime.cgocallbackg" {
			return false
		}
	}
	return true
}

func cgoFinding(s *cpuSpent, sites []cpuPlace, rate, share float64) diagnosis.Finding {
	each, from := div(share*s.Cores(), rate), "from code that the samples do not name"
	if len(sites) > 0 {
		from = "most of them in " + short(sites[0].Function)
	}
	return diagnosis.Finding{
		Summary: fmt.Sprintf("%s calls to C a second take %s of the CPU in use to cross, what C does not counted, %s.", num(rate), pct(share), from),
		Where:   topPlaces(sites, cgoNamed),
		Stacks:  topStacks(sites, cgoNamed),
		Evidence: []fact.Fact{
			{Name: "calls to C", Value: rate, Unit: fact.PerSec, Source: "metrics: " + metricCgo},
			{Name: "CPU in crossing", Value: share, Unit: fact.Ratio, Source: s.from()},
			{Name: "CPU to cross, each", Value: each, Unit: fact.Seconds, Source: s.from() + " ÷ calls"},
		},
		Cost: diagnosis.Cost{Value: share * s.Cores(), Unit: fact.Cores, Share: share, What: "CPU on the way into C and back"},
		Bound: diagnosis.Bound{
			Value: share * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method: "Amdahl: as if crossing cost nothing; a batch of n leaves one nth of it",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the runtime counts the calls exactly; the price is from samples"},
		RuledOut:   []string{"the work that C does: samples in C are not counted"},
		Remedy: diagnosis.Remedy{
			Text: "Do more in one call: pass an array instead of an element, move the loop over to C, or keep results of calls that say the same each time. What C does in less than a few hundred nanoseconds is faster in Go.",
			Code: "C.process_all((*C.item)(unsafe.SliceData(items)), C.size_t(len(items)))",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "The rate of calls in a new recording must have fallen."),
	}
}
