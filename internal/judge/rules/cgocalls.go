package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	rate := p.Metric("calls to C", metricCgo, fact.Rate)
	if rate.Value < cgoRate/10 {
		return // no word about C in a program without
	}
	s, sampled := cpu.UseOf(p)
	if rate.Value < cgoRate {
		p.Fine(fact.Sentence("calls to C: %s a second", rate.Number()))
		return
	}
	if !sampled {
		p.Unchecked("what calls to C cost",
			fact.Sentence("there are %s a second, and too few CPU samples to tell their price", rate.Number()), p.HowToGet(model.CPU))
		return
	}
	share := s.ShareIn("CPU on the way into C and back", crosses)
	if share.Value < cgoShare {
		p.Fine(fact.Sentence("calls to C: %s a second, and crossing takes %s of the CPU", rate.Number(), share))
		return
	}
	p.Report(cgoFinding(&s, rate, share))
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

func cgoFinding(s *cpu.Use, rate, share fact.Fact) diagnosis.Finding {
	sites, from := s.Functions(s.Pass.Model, crosses), fact.Name("from code that the samples do not name")
	if len(sites) > 0 {
		from = "most of them in " + code.Name(sites[0].Function)
	}
	f := diagnosis.Finding{
		Where:      cpu.Places(sites, cgoNamed),
		Stacks:     cpu.Stacks(sites, cgoNamed),
		Evidence:   []fact.Fact{rate, share, fact.Quotient.Of("CPU to cross, each", fact.Seconds, s.CoresOf(share), rate)},
		Cost:       s.Cost(share),
		Bound:      s.Estimate(share, "a batch of n leaves one nth of it"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the runtime counts the calls exactly; the price is from samples"},
		RuledOut:   []string{"the work that C does: samples in C are not counted"},
		Remedy: diagnosis.Remedy{
			Text: "Do more in one call: pass an array instead of an element, move the loop over to C, " +
				"or keep results of calls that say the same each time. " +
				"What C does in less than a few hundred nanoseconds is faster in Go.",
			Code: "C.process_all((*C.item)(unsafe.SliceData(items)), C.size_t(len(items)))",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The rate of calls in a new recording must have fallen."),
	}
	f.Say("%s calls to C a second take %s of the CPU in use to cross, what C does not counted, %s.", rate.Number(), share, from)
	return f
}
