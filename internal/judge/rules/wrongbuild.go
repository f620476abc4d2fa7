package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed wrongbuild.md
var wrongbuildPage string

var wrongbuild = &diagnosis.Rule{
	Name:  "wrongbuild",
	Title: "A debug build: race detector, coverage or no optimization",
	Doc:   wrongbuildPage,
	Needs: []model.Source{model.BuildInfo},
	Whole: true,
	Check: checkWrongbuild,
}

// A buildFault is a setting that makes a program slower than it need be.
type buildFault struct {
	flag, what string
	// worst is the factor of CPU time that the worst of three small benchmarks
	// lost (recursion, a loop over floats, a mix of encoding, sorting and
	// formatting; Go 1.26 on two cores), or what Go's documentation names
	// where that is more. It only ranks the finding.
	worst float64
	seen  string
}

var buildFaults = []buildFault{
	{"-race", "the race detector", 20, "Go's documentation says 2 to 20 times the time and 5 to 10 times the memory; " +
		"three small benchmarks took 6 to 11 times as long"},
	{"-asan", "the address sanitizer", 43, "three small benchmarks took 1.05, 12 and 43 times as long"},
	{"-msan", "the memory sanitizer", 3, "the documentation of LLVM's sanitizer speaks of three times the time"},
	{"-N", "no optimization (-gcflags -N)", 3.1, "three small benchmarks took 1.05, 2 and 3.1 times as long with -N -l"},
	{"-l", "no inlining (-gcflags -l)", 2.4, "the slowest of three small benchmarks took 2.4 times as long, the others as long as before"},
	{"-d=checkptr", "checks of unsafe pointers (-gcflags -d=checkptr)", 1.5, "three small benchmarks took 1.1 to 1.5 times as long"},
	{"-cover", "coverage counters", 1.1, "three small benchmarks took up to 1.1 times as long; with -covermode=atomic it is more"},
}

func checkWrongbuild(p *diagnosis.Pass) {
	found := faultsOf(p.Model.Build)
	if len(found) == 0 {
		p.Fine("build: no detector, no coverage, and the compiler's optimizations are on")
		return
	}
	p.Report(wrongbuildFinding(p, found))
}

// faultsOf returns the faults of a build, the costliest first.
func faultsOf(b *model.Build) (out []buildFault) {
	flags, everywhere := compilerFlags(b.Settings["-gcflags"])
	for _, f := range buildFaults {
		switch {
		case b.Settings[f.flag] == "true":
			out = append(out, f)
		case slices.Contains(flags, f.flag):
			if !everywhere {
				f.what += " in some packages"
			}
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b buildFault) int { return cmp.Compare(b.worst, a.worst) })
	return out
}

// compilerFlags reads a -gcflags setting like "all=-N -l" or "-d=checkptr=2".
// everywhere is set when the flags are for all packages and not only for those
// of a pattern or on the command line.
func compilerFlags(setting string) (flags []string, everywhere bool) {
	for i, word := range strings.Fields(setting) {
		if i == 0 && !strings.HasPrefix(word, "-") {
			pattern, first, _ := strings.Cut(word, "=")
			everywhere, word = pattern == "all", first
		}
		word = strings.Trim(word, `"'`)
		debug, isDebug := strings.CutPrefix(word, "-d=")
		if !isDebug {
			flags = append(flags, word)
			continue
		}
		for setting := range strings.SplitSeq(debug, ",") {
			if name, value, _ := strings.Cut(setting, "="); value != "0" {
				flags = append(flags, "-d="+name)
			}
		}
	}
	return flags, everywhere
}

func wrongbuildFinding(p *diagnosis.Pass, found []buildFault) diagnosis.Finding {
	worst := found[0]
	share := fact.Gain.Of("part of the CPU that the build takes at worst", fact.Ratio,
		fact.Figure("slowdown by "+worst.what, worst.worst, fact.Factor, worst.seen))
	cost := diagnosis.CostOf(share, share.Value)
	saved := share
	f := diagnosis.Finding{
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the build info of the program is exact; what the build costs here is not measured"},
		RuledOut:   []string{"flags that change nothing for the code that runs: -trimpath, -ldflags, -tags, -buildmode"},
		Remedy: diagnosis.Remedy{
			Text: "Build without these flags for everything that is measured or serves users, and keep the detectors for tests. " +
				"Look into GOFLAGS, the Dockerfile and the Makefile for where they come from; " +
				"`go version -m BINARY` shows what a binary was built with.",
			Code: "go build -o app ./cmd/app",
		},
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.CPUPerOp, Rebuild: true,
			Note: "Rebuild without the flags, also those of GOFLAGS. Then record the new binary: " +
				"all findings of the old recording are about another program.",
		},
	}
	if used := cpu.Cores(p).Named("CPU used by this build"); used.Value > 0 {
		f.Evidence = []fact.Fact{used}
		cost = diagnosis.CostOf(used, share.Value)
		saved = fact.Product.Of("CPU that the build takes at worst", fact.Cores, used, share)
	}
	f.Cost = cost
	f.Bound = diagnosis.Estimate(saved, 0, saved.Value, diagnosis.CPUGoal, share.Value,
		"not measured: as if this program lost as much as the worst known")
	var names []string
	for _, b := range found {
		names = append(names, b.what)
		f.Evidence = append(f.Evidence, p.Setting("built with "+b.what, b.flag, 1, fact.Count))
	}
	f.Say("The program was built with %s: it is slower than the one that would be shipped, "+
		"and all other figures here are of this build.",
		fact.Name(strings.Join(names, " and ")))
	return f
}
