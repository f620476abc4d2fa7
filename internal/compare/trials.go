package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/internal/statistics"
)

// Rounds are the counted rounds of a trial: for each metric, pairs of what its
// two arms measured.
type Rounds struct {
	Name    string
	Primary diagnosis.Metric
	Metrics []diagnosis.Metric // in the order of the trial
	Pairs   map[diagnosis.Metric][][2]float64
}

// An Effect is what two trials measured of one metric: the ratio of their arms
// then, and now.
type Effect struct {
	Metric diagnosis.Metric `json:"metric"`
	PairsA int              `json:"pairs_a"`
	PairsB int              `json:"pairs_b"`
	// A and B are the Hodges-Lehmann ratios that the trials found.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Ratio is how much B is of A, with its 95 % interval.
	Ratio   *float64 `json:"ratio"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	P       *float64 `json:"p"` // Mann-Whitney of the pairs' log ratios, corrected by Holm
	Verdict Verdict  `json:"verdict"`
}

// Trials compares the effects of two trials: those of single pairs, whose arms
// had the same machine at the same time. That leaves out whatever made the
// whole of one trial slower. The error is [ErrUnlike].
func Trials(a, b Rounds) (*Comparison, error) {
	c := &Comparison{Kind: kind, Schema: Schema, A: Side{Name: a.Name}, B: Side{Name: b.Name}}
	if a.Primary != b.Primary {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the primary metric was %s in A and %s in B", a.Primary, b.Primary))
	}
	var p []float64
	for _, m := range a.Metrics {
		if e, ok := effect(m, a.Pairs[m], b.Pairs[m]); ok {
			c.Effects = append(c.Effects, e)
			p = append(p, *e.P)
		}
	}
	if len(c.Effects) == 0 {
		return nil, ErrUnlike
	}
	for i, q := range statistics.Holm(p) {
		c.Effects[i].P = known(q)
		c.Effects[i].Verdict = c.Effects[i].judge()
	}
	c.Summary = c.effectWords()
	return c, nil
}

// effect compares the pairs of one metric.
func effect(m diagnosis.Metric, a, b [][2]float64) (Effect, bool) {
	la, lb := ratios(a), ratios(b)
	if len(la) == 0 || len(lb) == 0 {
		return Effect{}, false
	}
	e := Effect{Metric: m, PairsA: len(la), PairsB: len(lb),
		A: math.Exp(statistics.HodgesLehmann(la)), B: math.Exp(statistics.HodgesLehmann(lb)),
		Ratio: known(math.Exp(statistics.Shift(la, lb))), P: known(statistics.MannWhitney(la, lb))}
	if low, high, ok := shiftInterval(la, lb); ok {
		e.Low, e.High = known(math.Exp(low)), known(math.Exp(high))
	}
	return e, e.P != nil
}

// ratios are the log ratios B/A of pairs, of at most maxRuns of them.
func ratios(pairs [][2]float64) (logs []float64) {
	for _, p := range pairs {
		if p[0] > 0 && p[1] > 0 && sane(p[0]) && sane(p[1]) && len(logs) < maxRuns {
			logs = append(logs, math.Log(p[1]/p[0]))
		}
	}
	return logs
}

// unit is the metric without the benchmark that it is of.
func (e *Effect) unit() diagnosis.Metric {
	return e.Metric[strings.LastIndexByte(string(e.Metric), ' ')+1:]
}

// better says whether more of the metric is better; known is false for units
// that a benchmark made up itself.
func (e *Effect) better() (more, known bool) {
	if unit := e.unit(); unit != e.Metric {
		return better(string(unit))
	}
	return e.Metric.Greater(), true
}

func (e *Effect) judge() Verdict {
	more, isKnown := e.better()
	switch {
	case *e.P < alpha && e.Ratio != nil && *e.Ratio != 1:
		switch {
		case !isKnown:
			return Changed
		case (*e.Ratio > 1) == more:
			return Improved
		}
		return Regressed
	case e.Low != nil && e.High != nil && *e.Low >= 1/(1+Margin) && *e.High <= 1+Margin:
		return Same
	}
	return Inconclusive
}

func (c *Comparison) effectWords() string {
	var parts []string
	for _, e := range c.Effects {
		if e.Verdict != Same && e.Verdict != Inconclusive {
			parts = append(parts, fmt.Sprintf("%s %s (%s → %s)", e.Metric, e.Verdict, change100(e.A), change100(e.B)))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("the effects of both trials do not differ significantly in any of %d metrics", len(c.Effects))
	}
	return "effects differ: " + strings.Join(parts, ", ")
}
