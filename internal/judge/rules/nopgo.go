package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed nopgo.md
var nopgoPage string

var nopgo = &diagnosis.Rule{
	Name:  "nopgo",
	Title: "The build uses no profile (PGO)",
	Doc:   nopgoPage,
	Needs: []model.Source{model.BuildInfo},
	Whole: true,
	Check: checkNopgo,
}

const (
	// pgoOwn is the share of the CPU in the program's own code and its libraries
	// from which a profile is worth giving to the compiler, which can do nothing
	// about the rest.
	pgoOwn = 0.5
	// pgoCores is the least CPU that is worth a step in the build.
	pgoCores = 0.5
	// pgoLeast and pgoMost are what Go's documentation says of it: 2 to 14% for a
	// set of representative programs. gowhy's own reader of traces gained a tenth.
	pgoLeast = 0.02
	pgoMost  = 0.14
)

func checkNopgo(p *diagnosis.Pass) {
	if profile := p.Model.Build.Settings["-pgo"]; profile != "" {
		p.Fine("build: compiled with a profile (-pgo)")
		return
	}
	if p.Goal != diagnosis.CPUGoal {
		return // it is so of most programs, and nobody asked
	}
	s, ok := cpu.UseOf(p)
	if st, _ := profileGuided.status(p.Model); !ok || st != inForce {
		return
	}
	application := p.CPUPart("CPU in the program's own code and its libraries", model.Application)
	if application.Value >= pgoOwn && s.Cores() >= pgoCores && len(faultsOf(p.Model.Build)) == 0 {
		p.Report(nopgoFinding(&s, application))
	}
}

func nopgoFinding(s *cpu.Use, application fact.Fact) diagnosis.Finding {
	saved := func(what string, part float64) fact.Fact {
		return fact.Product.Of("part of the CPU that a profile saves at "+what, fact.Ratio, application,
			fact.Figure("part of a program's own CPU that a profile saves at "+what, part, fact.Ratio, "Go's documentation, of a set of representative programs"))
	}
	most, least := saved("most", pgoMost), saved("least", pgoLeast)
	f := diagnosis.Finding{
		Evidence: []fact.Fact{application, s.InUse(), s.Pass.Setting("profiles that it was compiled with", "-pgo", 0, fact.Count)},
		Cost:     s.Cost(application),
		Bound: diagnosis.Estimate(s.CoresOf(most), s.CoresOf(least).Value, s.CoresOf(most).Value, diagnosis.CPUGoal, most.Value,
			"not measured: what Go's documentation says of representative programs"),
		Remark:     true,
		Confidence: diagnosis.Low,
		Reasons:    []string{"the build info is exact; what the compiler would make of a profile is not known before it is tried"},
		RuledOut: []string{
			"a program whose CPU is in the kernel, the collector or the scheduler: a profile changes little there",
			"a Go version before " + profileGuided.version() + ": " + profileGuided.what + " since then",
		},
		Remedy: diagnosis.Remedy{
			Text: "Put a CPU profile of the program under its usual load next to the main package as default.pgo, " +
				"and renew it with each release. " +
				"The go command finds it by itself. It makes the build slower and the binary somewhat larger.",
			Code: "gowhy export run.gowhy --profile cpu -o default.pgo # in the folder of the main package\ngo build",
		},
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.CPUPerOp, Rebuild: true,
			Note: "Build once with -pgo=off and once with the profile; take the profile from another run than those that are compared.",
		},
	}
	f.Say("%s of the CPU in use is in the program's own code and its libraries, and they were compiled without a profile of it.", application)
	return f
}
