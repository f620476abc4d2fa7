package compare

import (
	"fmt"
	"math"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Limits are by how much metrics may become worse, as ratio-1.
type Limits map[diagnosis.Metric]float64

// DefaultLimits are those of compare --gate: counters may hardly grow, for they
// hardly vary; times and memory have the limits of the guards of a trial.
var DefaultLimits = Limits{
	diagnosis.AllocsOp: 0.01, diagnosis.BytesOp: 0.02, diagnosis.Goroutines: 0.01, diagnosis.Syscalls: 0.02,
	"ns/op": 0.05, diagnosis.CPUPerOp: 0.05, diagnosis.Elapsed: 0.05, diagnosis.P50: 0.05, diagnosis.P99: 0.05, diagnosis.OpsPerSec: 0.05,
	diagnosis.PeakRSS: 0.10, diagnosis.LiveHeap: 0.10,
}

// A Judgement is a comparison held to limits.
type Judgement struct {
	Verdict Verdict  `json:"verdict"` // regressed, inconclusive, or same for within the limits
	Why     []string `json:"why"`
}

// Judge holds a comparison to limits. What was repeated regresses when it is
// worse by more than its limit and significantly so. A single run can exceed
// a limit, which is then inconclusive, and so is a finding that only B has.
func (c *Comparison) Judge(l Limits) Judgement {
	j := Judgement{Verdict: Same}
	for i := range c.Benchmarks {
		r := &c.Benchmarks[i]
		limit, ok := l[r.Metric()]
		if w := r.Worse(); ok && w > limit {
			j.add(r.Verdict, fmt.Sprintf("%s %s", r.Name, r.Unit), w, limit)
		}
	}
	for i := range c.Effects {
		e := &c.Effects[i]
		limit, ok := l[e.unit()]
		if !ok || e.Ratio == nil {
			continue
		}
		more, _ := e.better()
		if w := worse(*e.Ratio, more); w > limit {
			j.add(e.Verdict, string(e.Metric), w, limit)
		}
	}
	for i := range c.Curves {
		j.curve(&c.Curves[i], l)
	}
	if x := c.Capacity; x != nil {
		j.capacity(x, l)
	}
	for i := range c.Ledger {
		r := &c.Ledger[i]
		limit, ok := l[r.Metric]
		if w, has := r.Worse(); ok && has && w > limit {
			j.unclear(exceeds(r.words(c.Per), w, limit) + ", in single runs")
		}
	}
	for _, f := range c.Findings {
		if f.State == New && !f.Remark {
			j.unclear(fmt.Sprintf("%s is found only in B", f.Rule))
		}
	}
	return j
}

// curve holds what became of the goal at each value of a knob to the limits.
func (j *Judgement) curve(c *Curve, l Limits) {
	limit, ok := l[unitOf(c.Goal)]
	for i := range c.Values {
		v := &c.Values[i]
		if !ok || v.Ratio == nil {
			continue
		}
		if w := worse(*v.Ratio, c.More); w > limit {
			j.add(v.Verdict, fmt.Sprintf("%s with %s=%s", c.Goal, c.Knob, c.Text(v.Value)), w, limit)
		}
	}
}

// capacity holds what is borne to the limit of the throughput. Each side is one
// search, so that nothing is ever certain.
func (j *Judgement) capacity(x *CapacityChange, l Limits) {
	limit, ok := l[diagnosis.OpsPerSec]
	if !ok {
		return
	}
	if x.Ratio != nil && worse(*x.Ratio, true) > limit {
		j.unclear(exceeds("the capacity", worse(*x.Ratio, true), limit) + ", by one search each")
	}
	for i := range x.Cells {
		r := &x.Cells[i]
		if w, has := r.Worse(); has && w > limit {
			j.unclear(exceeds("the capacity with "+r.Name, w, limit) + ", by one search each")
		}
	}
}

// exceeds says by how much a limit is exceeded.
func exceeds(what string, w, limit float64) string {
	how := figures.Percent(w) + " worse"
	if math.IsInf(w, 1) || w >= 10 {
		how = "many times worse"
	}
	return fmt.Sprintf("%s is %s, limit %s", what, how, figures.Percent(limit))
}

func (j *Judgement) add(v Verdict, what string, w, limit float64) {
	text := exceeds(what, w, limit)
	if v == Regressed || v == Changed { // whoever limits a unit says that less of it is better
		j.Verdict = Regressed
		j.Why = append(j.Why, text)
		return
	}
	j.unclear(text + ", which is not significant")
}

func (j *Judgement) unclear(why string) {
	if j.Verdict != Regressed {
		j.Verdict = Inconclusive
	}
	j.Why = append(j.Why, why)
}
