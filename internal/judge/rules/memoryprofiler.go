package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed memoryprofiler.md
var memoryprofilerPage string

var memoryprofiler = &diagnosis.Rule{
	Name:  "memoryprofiler",
	Title: "The memory profiler takes much of the CPU",
	Doc:   memoryprofilerPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"allocchurn", "stackgrowth"}, // what it takes is counted as allocating and as walking stacks
	Check:    checkMemoryprofiler,
}

const (
	// profilerShare is the part of the CPU in the memory profiler from which its rate was
	// lowered. Of benchmarks that do nothing but allocate, with Go 1.26, it took 0%, 0.8% and
	// 2.1% at the rate that Go has by itself, one sample for 512 KiB, and 7% where each
	// allocation has a MiB and a stack of 100 frames; 14% to 48% at one for 4 KiB and for 512
	// bytes of small ones, and up to 94% with each sampled.
	profilerShare = 0.10
	// profilerSamples are the fewest: fifteen are eight at least, nineteen times in twenty.
	profilerSamples = 15
)

// profilerRepairs is what the usual rate saves of what the profiler takes: 59% of the time of a
// benchmark that had 53% of its CPU there.
var profilerRepairs = cpu.Repairs{Least: 0.8, Most: 1.2}

// profilerFunctions record an allocation, or the freeing of one that was recorded.
var profilerFunctions = []string{"runtime.profilealloc", "runtime.mProf_Malloc", "runtime.mProf_Free", "runtime.setprofilebucket"}

func inProfiler(frames []model.Frame) bool { return code.ContainsPrefix(frames, profilerFunctions) }

func checkMemoryprofiler(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	sites := s.Places(p.Model, inProfiler)
	share := s.ShareAt("CPU in the memory profiler", sites...)
	if share.Value < profilerShare || s.SamplesAt(sites).Value < profilerSamples {
		return
	}
	f := diagnosis.Finding{
		Where:      code.Places(sites[0].Place),
		Stacks:     cpu.Stacks(sites, cpu.MostNamed),
		Evidence:   []fact.Fact{share, s.InUse()},
		Cost:       s.Cost(share),
		Bound:      s.EstimateAlong(share, profilerRepairs, "what its walks push out of the caches", ""),
		Confidence: diagnosis.High,
		Reasons:    []string{s.Witness(), "only the profiler's own functions are counted: at the rate that Go has by itself they take a few percent at most"},
		RuledOut:   []string{"allocating itself, which goes on with any rate"},
		Remedy:     profilerRemedy,
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The profile of the changed program has none of the profiler's functions."),
	}
	f.Say("%s of the CPU in use goes into recording allocations for the memory profile: its rate samples far more of them than "+
		"Go does by itself.", share)
	p.Report(f)
}

var profilerRemedy = diagnosis.Remedy{
	Text: "Leave runtime.MemProfileRate as it is, and go test without -memprofilerate: one sample for 512 KiB shows who " +
		"allocates. Where each allocation must be seen, take that profile in a run of its own, not with a CPU profile or a " +
		"benchmark.",
	Code: "runtime.MemProfileRate = 512 << 10 // as it is by itself; or no line at all",
}

// printedBuckets finds the bucket of a stack that was recorded, which profilers of the
// runtime do for each sample.
var printedBuckets = []string{"runtime.profilealloc", "runtime.mProf_Malloc", "runtime.stkbucket"}

// printedProfilerShare is the part of the CPU in finding buckets from which a table shows that
// its profiler samples much: of the benchmarks above none at Go's own rate had a sample there.
const printedProfilerShare = 0.01
