package experiment

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A USL is a fit of Gunther's universal scalability law,
// X(N) = λN / (1 + σ(N-1) + κN(N-1)), with 95% intervals: λ is the
// throughput of one, σ the share of the work that only one can do at a time, κ
// the cost of each pair having to agree.
type USL struct {
	Lambda Interval `json:"lambda"`
	Unit   string   `json:"unit"` // of λ: "ops/s" or "runs/s"
	Sigma  Interval `json:"sigma"`
	Kappa  Interval `json:"kappa"`
	// Peak is N* = sqrt((1-σ)/κ), where throughput is greatest; nil when it is
	// not within twice the tested range or there is none, for the reason in
	// NoPeak.
	Peak   *Interval `json:"peak"`
	NoPeak string    `json:"no_peak,omitempty"`
	// R2 is the share of the variance of log X that the law explains; 0 when X
	// does not vary.
	R2     float64    `json:"r2"`
	Tested [2]float64 `json:"tested"` // the least and the greatest N
}

// At returns the throughput that the law gives.
func (u *USL) At(n float64) float64 {
	return u.Lambda.Value * n / (1 + u.Sigma.Value*(n-1) + u.Kappa.Value*n*(n-1))
}

const (
	uslPoints = 6 // the fewest that three parameters are worth fitting to
	uslBeyond = 2 // how far beyond the tested range a peak is reported
)

// fitUSL fits the law when the curve is one that it is about.
func (c *Curve) fitUSL(seed uint64) {
	if c.NoUSL = c.uslRefusal(); c.NoUSL != "" {
		return
	}
	n, x, unit := c.throughputs()
	fit, err := statistics.FitUSL(n, x, seed)
	if err != nil {
		c.NoUSL = err.Error()
		return
	}
	u := &USL{Lambda: Interval(fit.Lambda), Unit: unit, Sigma: Interval(fit.Sigma), Kappa: Interval(fit.Kappa)}
	if !math.IsNaN(fit.R2) {
		u.R2 = bounded(fit.R2)
	}
	u.Tested[0], u.Tested[1] = n[0], n[len(n)-1]
	u.peak(Interval(fit.Peak))
	c.USL = u
}

// uslRefusal says why the law is not fitted; empty when it can be.
func (c *Curve) uslRefusal() string {
	if c.Knob.Counts == "" {
		return c.Knob.Name + " is no number of things that run at once"
	}
	if c.Goal.Metric != diagnosis.Elapsed && c.Goal.Metric != diagnosis.OpsPerSec {
		return "it is about throughput, and the goal is " + c.Goal.String()
	}
	points, one := 0, false
	for i := range c.Points {
		if p := &c.Points[i]; p.measured() && p.Value >= 1 {
			points++
			one = one || p.Value == 1
		}
	}
	switch {
	case points < uslPoints:
		return fmt.Sprintf("it needs %d points and more, and there are %d", uslPoints, points)
	case !one:
		return "it needs the throughput of one, and " + c.Knob.Name + "=1 is not among the points"
	}
	return ""
}

// throughputs returns the counts, in order, and the throughput of each run without
// what its round had in common with others.
func (c *Curve) throughputs() (n, x []float64, unit string) {
	fit := c.polish()
	ops, same := 0.0, true
	for i := range c.Points {
		for j := range c.Points[i].Visits {
			v := &c.Points[i].Visits[j]
			same = same && (ops == 0 || v.Ops == ops)
			ops = v.Ops
		}
	}
	unit = "ops/s"
	if c.Goal.Metric == diagnosis.Elapsed && (!same || ops <= 0) {
		unit, ops = "runs/s", 1
	}
	for i := range c.Points {
		if c.Points[i].Value < 1 {
			continue
		}
		for _, log := range fit.of[i] {
			v := math.Exp(log)
			if c.Goal.Metric == diagnosis.Elapsed {
				v = ops / v
			}
			n, x = append(n, c.Points[i].Value), append(x, v)
		}
	}
	return n, x, unit
}

// peak keeps the count of the greatest throughput when it is near what was
// tested: the law is a good curve to interpolate with and a bad prophet.
func (u *USL) peak(p Interval) {
	most := uslBeyond * u.Tested[1]
	switch {
	case math.IsInf(p.Value, 0):
		u.NoPeak = "throughput never falls in the fit: κ is 0"
	case p.Value > most:
		u.NoPeak = "the law puts it at " + figures.Number(p.Value) + ", beyond twice the tested range, where it is a guess"
	case p.Value <= 1:
		u.NoPeak = "throughput falls from the first in the fit: one is best"
	default:
		u.Peak = &p
	}
}

// Format writes a value of the knob as the program is given it.
func (k Knob) Format(v float64) string {
	if k.Integer || k.Bytes {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
