package main

import (
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

const confirmed = "confirmed"

// trial counts the experiment of an illness's cure, and holds what every sick
// run promised to what it measured.
func (t *tally) trial(row *Row, r *Results) {
	for i := range r.Trials {
		tr := &r.Trials[i]
		if tr.Case != row.Case || tr.Name != row.Illness.Name || tr.Kind != Cure {
			continue
		}
		row.Trial = tr
		t.Confirmed.add(tr.Conclusion == confirmed)
		if tr.Conclusion != confirmed {
			t.wrongTrial(tr, "the cure confirmed", tr)
		}
	}
	var primary []float64
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.Case != row.Case || a.Name != row.Illness.Name || a.Kind != Sick || a.Dose < 1 {
			continue
		}
		for _, p := range promises(a, row.Illness.Rule) {
			if p.Metric == row.Illness.Metric {
				primary = append(primary, p.Best)
			}
			t.promise(row, a, p)
		}
	}
	if len(primary) > 0 {
		row.Promised = statistics.Median(primary)
	}
}

// promises returns those of the first finding of the rule.
func promises(a *Answer, rule string) []Promise {
	for _, f := range allFindings(a.Findings) {
		if f.Rule == rule {
			return f.Promised
		}
	}
	return nil
}

// promise holds one promise to the trial. A bound is broken when the measured
// ratio goes beyond it with all of its interval, the end that is nearer to no
// change too: an exact bound would have half of the ratios beyond it by chance. A
// cure that takes away more than the illness is not held to the illness's bound.
func (t *tally) promise(row *Row, a *Answer, p Promise) {
	if row.Illness.Beyond != "" {
		t.More++
		return
	}
	var e *Effect
	if row.Trial != nil {
		e = row.Trial.effect(p.Metric)
	}
	if e == nil || p.Best <= 0 {
		t.Unmeasured++
		return
	}
	near := e.High
	if p.Best > 1 {
		near = e.Low
	}
	kept := beyond(p.Best, near) == 0
	t.Bound.add(kept)
	t.Middle.add(beyond(p.Best, e.Ratio) == 0)
	if !kept {
		t.Wrong = append(t.Wrong, Wrong{Key: row.Case + "/" + row.Illness.Name + "/bound", Round: a.Round,
			Want: fmt.Sprintf("no more than the bound, %s × %.2f", p.Metric, p.Best), Said: fmt.Sprintf("measured were × %.2f (%.2f to %.2f)", e.Ratio, e.Low, e.High)})
	}
	off := math.Abs(p.Best/e.Ratio - 1)
	t.Within20.add(off <= 0.20)
	t.Within50.add(off <= 0.50)
}

// beyond returns by how much a measured ratio goes beyond a bound, 0 when it does
// not: below it where less is better, above it for throughput.
func beyond(best, ratio float64) float64 {
	if best > 1 {
		return max(0, ratio-best)
	}
	return max(0, best-ratio)
}

// useless counts a change that is no cure. What could not be run confirms
// nothing, and refuses nothing.
func (t *tally) useless(r *Results, c *truth.Case, u *truth.Change) {
	for i := range r.Trials {
		tr := &r.Trials[i]
		if tr.Case != c.Name || tr.Name != u.Name || tr.Kind != Useless {
			continue
		}
		refused := tr.Conclusion != confirmed && tr.Failed == ""
		t.Refused.add(refused)
		if !refused {
			t.wrongTrial(tr, "no confirmation of what is no cure", tr)
		}
	}
}

func (t *tally) wrongTrial(tr *Trial, want string, said *Trial) {
	t.Wrong = append(t.Wrong, Wrong{Key: tr.Case + "/" + tr.Name + "/" + string(tr.Kind), Want: want, Said: trialWords(said)})
}

// trialWords returns what came of an experiment.
func trialWords(tr *Trial) string {
	if tr.Failed != "" {
		return "it failed: " + tr.Failed
	}
	s := tr.Conclusion
	if e := tr.effect(tr.Primary); e != nil {
		s += fmt.Sprintf(", %s × %.2f (%.2f to %.2f)", tr.Primary, e.Ratio, e.Low, e.High)
	}
	if tr.Busy {
		s += ", on a busy machine"
	}
	return s
}
