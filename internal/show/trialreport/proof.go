package trialreport

import (
	"fmt"
	"io"
	"math"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// Proof writes a trial in three lines: what the change brought, from what to what, and
// what was predicted. One that confirms nothing says so with its reason.
func Proof(w io.Writer, tr *experiment.Trial, o layout.Options) error {
	t := newTexter(o)
	p := primaryEffect(tr)
	if tr.Conclusion != experiment.Confirmed || p == nil || !isKnown(p.Ratio) {
		t.trialHead(tr)
		return t.Flush(w)
	}
	t.verdict("proved:", gainText(p.Metric, p.Ratio)+", "+gainInterval(p), layout.Green)
	runs := "counted in two runs of each"
	if tr.Pairs > 0 {
		runs = "medians of " + figures.Plural(tr.Pairs, "pair") + " of runs in random order"
	}
	t.Para(labelled, "measured", fmt.Sprintf("%s %s → %s, %s", p.Metric.Words(), metricText(p.Metric, p.A), metricText(p.Metric, p.B), runs), layout.Plain)
	if q := tr.Predicted; q != nil && q.Metric == p.Metric && isKnown(q.Best) {
		t.Para(labelled, "predicted", "at most "+gainText(p.Metric, q.Best)+"; "+keptWord(q.Best, p), layout.Plain)
	}
	if tr.Busy {
		t.Para(labelled, "note", "other programs kept this machine busy, which makes the interval wider", layout.Plain)
	}
	return t.Flush(w)
}

// gainText says what a ratio of B to A means to somebody who waits or pays.
func gainText(m diagnosis.Metric, ratio float64) string {
	switch {
	case m == diagnosis.Elapsed:
		return figures.Number(1/ratio) + "× faster"
	case m.Greater():
		return figures.Number(ratio) + "× " + m.Words()
	}
	return Change(ratio) + " " + m.Words()
}

func gainInterval(p *experiment.Effect) string {
	switch {
	case p.Exact:
		return "counted exactly"
	case p.Metric == diagnosis.Elapsed && isKnown(p.Low) && isKnown(p.High):
		return fmt.Sprintf("95%% interval %s to %s", figures.Number(1/p.High), figures.Number(1/p.Low))
	case p.Metric.Greater() && isKnown(p.Low) && isKnown(p.High):
		return fmt.Sprintf("95%% interval %s to %s", figures.Number(p.Low), figures.Number(p.High))
	}
	return "95% interval " + ChangeInterval(p.Low, p.High)
}

// keptWord sets the measured effect beside the bound.
func keptWord(best float64, p *experiment.Effect) string {
	if math.Log(p.Ratio)/math.Log(best) > 1 && math.Abs(p.Ratio/best-1) >= noGap {
		return "measured is " + beyondText(best, p, func(r float64) string { return gainText(p.Metric, r) })
	}
	return "that holds"
}
