package trialreport

import (
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/gate"
	"github.com/gowhy/gowhy/internal/show/sarif"
)

// SARIF writes what a gate did not let pass as SARIF 2.1.0: regressions are
// errors, what could not be decided is a warning when the policy lets it fail,
// else a note. Locations are relative to the repository's root.
func SARIF(w io.Writer, r *gate.Result, _ layout.Options) error {
	log := sarif.New("gowhyGate")
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Problem != "" {
			log.Add(sarif.Result{Rule: "not-measured", Title: "Not measured", What: "A check could not be measured.", Level: undecidedLevel(r),
				Message: checkTitle(c) + ": " + c.Problem, File: c.At.File, Line: c.At.Line, Same: c.Name})
		}
		for j := range c.Measures {
			addMeasure(log, r, c, &c.Measures[j])
		}
	}
	return log.Write(w)
}

func undecidedLevel(r *gate.Result) sarif.Level {
	if r.InconclusiveFails {
		return sarif.Warning
	}
	return sarif.Note
}

func addMeasure(log *sarif.Log, r *gate.Result, c *gate.Check, m *gate.Measure) {
	level := sarif.Error
	switch m.Verdict {
	case gate.Regressed:
	case gate.Inconclusive:
		level = undecidedLevel(r)
	default:
		return
	}
	metric := layout.Safe(string(m.Metric))
	log.Add(sarif.Result{Rule: "gate/" + metric, Title: "Limit of " + metric,
		What:  "The limit of " + experiment.InfoOf(m.Metric).Title + " in the policy of gowhy gate.",
		Level: level, Message: measureMessage(m), File: m.At.File, Line: m.At.Line, Same: c.Name + "\x00" + measureName(m)})
}

// measureMessage returns a measure in a sentence.
func measureMessage(m *gate.Measure) string {
	row := gateRowOf(m)
	return fmt.Sprintf("%s %s: %s → %s; %s", measureName(m), m.Verdict, row.base, row.change, gateWhy(m))
}
