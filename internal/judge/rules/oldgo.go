package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed oldgo.md
var oldgoPage string

var oldgo = &diagnosis.Rule{
	Name:  "oldgo",
	Title: "A newer Go release does the same with less CPU",
	Doc:   oldgoPage,
	// No Needs: the version is in any evidence, the cost in either kind of samples.
	Whole: true,
	Check: checkOldgo,
}

const (
	// oldgoShare is the part of the CPU that known changes may save together, by
	// their release notes, from which an upgrade is worth a remark, and oldgoSick
	// that from which not having it is what makes the program slow. Ten
	// interleaved runs cannot tell less than the first.
	oldgoShare = 0.05
	oldgoSick  = 0.15
)

// An improvement is a change of Go that the program does not have.
type improvement struct {
	change *goFact
	part   []fact.Fact // the CPU that it is about, where that is not all
	saved  fact.Fact   // at most, as a share of the CPU
}

func newImprovement(p *diagnosis.Pass, f *goFact) improvement {
	name := "saved at most since " + f.version()
	most := fact.Figure(name, f.gain.most, fact.Ratio, "release notes of "+f.version()+", "+f.notes)
	if f.gain.part == "" {
		return improvement{f, nil, most}
	}
	part := p.CPUPart("CPU in "+string(f.gain.part), f.gain.part)
	return improvement{f, []fact.Fact{part}, fact.Product.Of(name, fact.Ratio, part, most.Named("most that this change saves of it"))}
}

// oneByOne is the share that several changes save when each saves its own of what
// those before it left.
var oneByOne = &fact.Formula{Name: "one by one", Words: "the largest saving that the release notes name for each change, applied to its part, one change after the other",
	Value: func(x []float64) float64 {
		left := 1.0
		for _, share := range x {
			left *= 1 - share
		}
		return 1 - left
	}}

func checkOldgo(p *diagnosis.Pass) {
	reportPins(p)
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	var list []improvement
	var each []fact.Fact
	for _, f := range goFacts {
		if st, _ := f.status(p.Model); f.gain.most > 0 && (st == notYet || st == undone) {
			list = append(list, newImprovement(p, f))
			each = append(each, list[len(list)-1].saved)
		}
	}
	version := fact.Name(versionWords(p.Model))
	switch share := oneByOne.Of("CPU that later versions of Go are said to save at most", fact.Ratio, each...); {
	case len(list) == 0:
		if version != "" {
			p.Fine(fact.Sentence("Go version: %s has all that is known here to save CPU by itself", version))
		}
	case share.Value < oldgoShare:
		p.Fine(fact.Sentence("Go version: what is newer than %s would save %s of this program's CPU at most", version, share))
	default:
		p.Report(oldgoFinding(p.Model, &s, list, share, version))
	}
}

// reportPins says which changes a setting has turned back where that was seen
// to matter to nobody: what it costs is the business of the rules that ask.
func reportPins(p *diagnosis.Pass) {
	var pins []string
	for _, f := range goFacts {
		if st, _ := f.status(p.Model); st == undone && f.undo.variable == "GODEBUG" {
			pins = append(pins, f.undo.key+"="+f.undo.value)
		}
	}
	if len(pins) > 0 {
		p.Fine("old behaviour by GODEBUG: " + strings.Join(pins, ", ") + "; rules that it matters to have looked at it")
	}
}

func oldgoFinding(m *model.Model, s *cpu.Use, list []improvement, share fact.Fact, version fact.Name) diagnosis.Finding {
	slices.SortStableFunc(list, func(a, b improvement) int { return cmp.Compare(b.saved.Value, a.saved.Value) })
	cores := s.CoresOf(share)
	f := diagnosis.Finding{
		Evidence: []fact.Fact{s.InUse()},
		Cost:     s.Cost(share),
		Bound: diagnosis.Estimate(cores, 0, cores.Value, diagnosis.CPUGoal, share.Value,
			"not measured: "+share.Origin.Sentence+". New versions change other things as well"),
		Remark:     share.Value < oldgoSick,
		Confidence: diagnosis.Low,
		Reasons:    []string{"the version and the parts of the CPU are exact; what the changes bring here is their release notes' best case"},
		RuledOut: []string{
			"changes that this program would not feel: each counts with the part of the CPU that it is about",
			"changes that a setting has turned off: they count as versions without them",
		},
		Remedy: diagnosis.Remedy{
			Text: "Build with a newer Go and compare. Raise the go line in go.mod too: the defaults of GODEBUG follow it, " +
				"and with an old line the new toolchain keeps old behaviour. " +
				"A new version is not always faster for every program; the experiment says.",
			Code: "go get go@latest toolchain@latest\ngo build",
		},
		Experiment: newerGo(m, list),
	}
	for _, m := range list {
		f.Rest(append(m.part, m.saved)...)
	}
	f.Say("The program was built with %s; what later versions changed would save up to %s of the CPU in use, "+
		"most of it that since %s %s.",
		version, share, fact.Name(list[0].change.version()), fact.Name(list[0].change.what))
	return f
}

// newerGo returns the experiment that builds with the release that brought the last of the changes that the
// program's Go does not have; where a setting has turned them all back, with another build.
func newerGo(m *model.Model, list []improvement) *diagnosis.Experiment {
	newest := 0
	for _, i := range list {
		if st, _ := i.change.status(m); st == notYet {
			newest = max(newest, i.change.since)
		}
	}
	if newest == 0 {
		return &diagnosis.Experiment{Primary: diagnosis.CPUPerOp, Rebuild: true, Note: "Build the same source without the setting."}
	}
	release := "1." + strconv.Itoa(newest)
	if newest >= firstPatched {
		release += ".0"
	}
	return &diagnosis.Experiment{Primary: diagnosis.CPUPerOp, Go: release,
		Note: "Any later release will do: --go says which. " +
			"The go line of go.mod is the same in both, and with it the defaults of GODEBUG."}
}

// firstPatched is the minor version from which the first release of one has a third number.
const firstPatched = 21

// versionWords returns the version that the program was built with; "" when unknown.
func versionWords(m *model.Model) string { return strings.ReplaceAll(goVersion(m), "go1", "Go 1") }
