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

//go:embed oldgo.md
var oldgoPage string

var oldgo = &diagnosis.Rule{
	Name:  "oldgo",
	Title: "A newer Go does the same with less",
	Doc:   oldgoPage,
	// No Needs: the version is in any evidence, the cost in either kind of samples.
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

// An improvement is a change of Go that the program does not have, and what it would
// save at most, as a share of the CPU.
type improvement struct {
	fact  *goFact
	why   string
	share float64
}

func checkOldgo(p *diagnosis.Pass) {
	reportPins(p)
	s, ok := spentCPU(p)
	if !ok {
		return
	}
	list, left := []improvement(nil), 1.0
	for _, f := range goFacts {
		st, why := f.standing(p.Model)
		if f.gain.most == 0 || st != notYet && st != undone {
			continue
		}
		share := f.gain.most
		if f.gain.part != "" {
			share *= s.Share(f.gain.part)
		}
		list = append(list, improvement{f, why, share})
		left *= 1 - share
	}
	version := versionWords(p.Model)
	switch share := 1 - left; {
	case len(list) == 0:
		if version != "" {
			p.Fine(fmt.Sprintf("Go version: %s has all that is known here to save CPU by itself", version))
		}
	case share < oldgoShare:
		p.Fine(fmt.Sprintf("Go version: what is newer than %s would save %s of this program's CPU at most", version, pct(share)))
	default:
		p.Report(oldgoFinding(&s, list, share, version))
	}
}

// reportPins says which changes a setting has turned back where that was seen
// to matter to nobody: what it costs is the business of the rules that ask.
func reportPins(p *diagnosis.Pass) {
	var pins []string
	for _, f := range goFacts {
		if st, _ := f.standing(p.Model); st == undone && f.undo.variable == "GODEBUG" {
			pins = append(pins, f.undo.key+"="+f.undo.value)
		}
	}
	if len(pins) > 0 {
		p.Fine("old behaviour by GODEBUG: " + strings.Join(pins, ", ") + "; rules that it matters to have looked at it")
	}
}

func oldgoFinding(s *cpuSpent, list []improvement, share float64, version string) diagnosis.Finding {
	slices.SortStableFunc(list, func(a, b improvement) int {
		switch {
		case a.share > b.share:
			return -1
		case a.share < b.share:
			return 1
		}
		return 0
	})
	first := list[0]
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("The program was built with %s; what later versions changed would save up to %s of the CPU in use, most of it that since %s %s.",
			version, pct(share), first.fact.version(), first.fact.what),
		Evidence: []fact.Fact{{Name: "CPU in use", Value: s.Cores(), Unit: fact.Cores, Source: s.from()}},
		Cost:     diagnosis.Cost{Value: share * s.Cores(), Unit: fact.Cores, Share: share, What: "CPU that later versions of Go are said to save at most"},
		Bound: diagnosis.Bound{
			Value: share * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share, Partial: true,
			Method: "not measured: the part of the CPU that each change is about × the most that its release notes name, one after the other. New versions change other things as well",
		},
		Remark:     share < oldgoSick,
		Confidence: diagnosis.Low,
		Reasons:    []string{"the version and the parts of the CPU are exact; what the changes bring here is their release notes' best case"},
		RuledOut: []string{
			"changes that this program would not feel: each counts with the part of the CPU that it is about",
			"changes that a setting has turned back: they are told from versions that do not have them",
		},
		Remedy: diagnosis.Remedy{
			Text: "Build with a newer Go and compare. Raise the go line in go.mod too: the defaults of GODEBUG follow it, and with an old line the new toolchain keeps old behaviour. A new version is not always faster for every program; the experiment says.",
			Code: "go get go@latest toolchain@latest\ngo build",
		},
		Experiment: &diagnosis.Experiment{Primary: diagnosis.CPUPerOp, Rebuild: true, Note: "Build the same source with both versions. `go version BINARY` shows which is which."},
	}
	for _, m := range list {
		part := "all of the CPU"
		if m.fact.gain.part != "" {
			part = string(m.fact.gain.part)
			f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in " + part, Value: s.Share(m.fact.gain.part), Unit: fact.Ratio, Source: s.from()})
		}
		f.Evidence = append(f.Evidence, fact.Fact{
			Name: "saved at most since " + m.fact.version(), Value: m.share, Unit: fact.Ratio,
			Source: fmt.Sprintf("release notes of %s, %s: %s of %s", m.fact.version(), m.fact.notes, pct(m.fact.gain.most), part),
		})
	}
	return f
}

// versionWords is the version that the program was built with; "" when unknown.
func versionWords(m *model.Model) string { return strings.Replace(goVersion(m), "go1", "Go 1", 1) }
