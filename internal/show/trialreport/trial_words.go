package trialreport

import (
	"fmt"
	"math"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// metricText writes a value of a metric with its unit.
func metricText(m diagnosis.Metric, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	info := experiment.InfoOf(m)
	return layout.Safe(info.Unit.Format(v * info.Scale))
}

// isKnown reports whether a ratio of two measurements is a number to be shown.
func isKnown(ratio float64) bool { return ratio > 0 && ratio < absurd }

// Change writes a ratio of B to A in a word: −12%, ×2.5.
func Change(ratio float64) string {
	if !isKnown(ratio) {
		return "-"
	}
	return figures.Change(ratio)
}

// ChangeInterval writes the ends of an interval of ratios.
func ChangeInterval(low, high float64) string {
	switch {
	case !isKnown(low) || !isKnown(high):
		return "-"
	case high >= 2: // as figures.Change does, both ends in one way
		return "×" + figures.Number(low) + " to ×" + figures.Number(high)
	}
	return strings.TrimSuffix(figures.Change(low), "%") + " to " + figures.Change(high)
}

// movedText says what became of a metric; one that was or is 0 has no ratio.
func movedText(e *experiment.Effect) string {
	switch {
	case e.A == 0 && e.B == 0:
		return "0%"
	case e.A == 0 && e.B > 0:
		return "from 0"
	case e.A > 0 && e.B == 0:
		return "−100%"
	case math.IsNaN(e.Ratio) && e.A > 0 && e.B > 0: // counted, and in no pair
		return Change(e.B / e.A)
	case opposed(e):
		return Change(e.Ratio) + opposedMark
	}
	return Change(e.Ratio)
}

// opposedMark is behind a change that the medians of A and B do not show.
const opposedMark = "*"

// opposed reports whether the medians of A and B say something else than the ratio
// within pairs: the other direction, or one that the interval excludes.
func opposed(e *experiment.Effect) bool {
	if e.Exact || !isKnown(e.Ratio) || !(e.A > 0 && e.B > 0) {
		return false
	}
	medians := e.B / e.A
	otherWay := (medians > 1) != (e.Ratio > 1) && medians != 1 && e.Ratio != 1
	return otherWay || isKnown(e.Low) && medians < e.Low || isKnown(e.High) && medians > e.High
}

// opposedText explains the marks of a table; empty where it has none.
func opposedText(rows []*experiment.Effect) string {
	var list []string
	for _, e := range rows {
		if opposed(e) {
			list = append(list, figures.Change(e.B/e.A)+" for "+layout.Safe(string(e.Metric)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return opposedMark + " the typical change within a pair, in which one ran right after the other; the medians of A and of B alone would say " + strings.Join(list, ", ")
}

func intervalText(e *experiment.Effect) string {
	if e.Exact && (e.Low == e.High || !isKnown(e.Low) || !isKnown(e.High)) {
		return "exact"
	}
	return ChangeInterval(e.Low, e.High)
}

// effectWord returns a metric's verdict, and that of its guard.
func effectWord(e *experiment.Effect) string {
	word := string(e.Verdict)
	if e.Verdict == experiment.Inconclusive {
		word = "not sure"
		if e.Open != "" {
			word += ": " + e.Open
		}
	}
	switch {
	case !e.Guarded || e.Verdict == experiment.Improved && !e.Broken:
		return word
	case e.Broken:
		return "guard broken"
	case e.Unclear:
		return "guard unclear"
	case !e.Kept():
		return "not seen worse"
	}
	return "guard held"
}

// pText returns the probability of such data without a difference, adjusted for the
// number of metrics.
func pText(e *experiment.Effect) string {
	switch {
	case e.Exact || math.IsNaN(e.P):
		return ""
	case e.P < 0.0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.2g", e.P)
}

// promiseLines put the finding's bound and the measured effect side by side.
func promiseLines(tr *experiment.Trial) [][2]string {
	p := primaryEffect(tr)
	var lines [][2]string
	switch q := tr.Predicted; {
	case q != nil && (isKnown(q.Best) || isKnown(q.Estimate)):
		if isKnown(q.Best) {
			lines = append(lines, [2]string{"promised", "at most " + Change(q.Best) + " of " + string(q.Metric) + methodText(q.Method)})
		}
		if isKnown(q.Estimate) {
			lines = append(lines, [2]string{"predicted", Change(q.Estimate) + " of " + string(q.Metric) + methodText(q.Replay)})
		}
	case tr.About.Finding != nil && tr.About.Finding.Expect.Method != "":
		lines = append(lines, [2]string{"promised", layout.Safe(tr.About.Finding.Expect.Gain() + ": " + tr.About.Finding.Expect.Method)})
	default:
		return nil
	}
	if p != nil && isKnown(p.Ratio) {
		text := Change(p.Ratio) + " of " + string(p.Metric) + " (" + intervalText(p) + ")"
		lines = append(lines, [2]string{"measured", text + keptText(tr.Predicted, p)})
	}
	if f := tr.About.Finding; f != nil && f.Note != "" {
		lines = append(lines, [2]string{"note", f.Note})
	}
	return lines
}

func methodText(m string) string {
	if m == "" {
		return ""
	}
	return ": " + m
}

// keptText says how much of a bound was reached. More than all of it tells
// that the bound is wrong or that something else changed.
func keptText(q *experiment.Prediction, p *experiment.Effect) string {
	if q == nil || q.Metric != p.Metric || !isKnown(q.Best) || q.Best == 1 {
		return ""
	}
	share := math.Log(p.Ratio) / math.Log(q.Best)
	switch {
	case p.Verdict == experiment.Same || share <= 0:
		return ": nothing of what was promised"
	case math.Abs(p.Ratio/q.Best-1) < noGap:
		return ": all of what was promised"
	case share > 1:
		return ": " + beyondText(q.Best, p, Change)
	}
	return ": " + figures.Percent(share) + " of what was promised"
}

// beyondText says by how much a measured effect is beyond its bound, and whether that is
// more than noise: whether the whole interval is.
func beyondText(best float64, p *experiment.Effect, write func(ratio float64) string) string {
	near := p.Low // the end of the interval that is nearer to no change
	if best < 1 {
		near = p.High
	}
	over := gapText(best, p.Ratio)
	switch {
	case p.Exact || isKnown(near) && math.Log(near)/math.Log(best) > 1:
		return over + " beyond the bound, and so is the whole interval: the bound is wrong, or something else changed too"
	case !isKnown(near):
		return over + " beyond the bound, from too few pairs to say whether that is noise"
	}
	return over + " beyond the bound, within the noise: the interval reaches back to " + write(near)
}

// noGap is how far from a bound, as a ratio-1, a measurement is as good as on it.
const noGap = 0.005

// gapText returns how far a ratio is beyond a bound: of CPU from 0.42 to 0.40 is 4.8%.
func gapText(best, ratio float64) string { return figures.Percent(math.Abs(ratio/best - 1)) }
