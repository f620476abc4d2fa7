package experiment

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A Curve is what was measured along one knob, and what it says: everything
// but the points' visits is computed from these.
//
// The estimate of a point is the median of its runs after what each round had
// in common was taken out, by median polish on the log scale. The recommended
// point is the smallest that holds the limits and is not shown, by one
// standard error, to be more than 3% worse than the best that can be had (the
// one-standard-error rule of Breiman and others, CART, 1984, with a margin
// below which nobody cares). The best that can be had is the mean of the points
// that cannot be told from the best one: the best of many noisy points is good
// by luck as well.
type Curve struct {
	Knob   Knob    `json:"knob"`
	Goal   Goal    `json:"goal"`
	Others Setting `json:"others,omitempty"` // what the other knobs had
	Points []Point `json:"points"`           // by value
	Best   int     `json:"best"`             // index of the best point that holds the limits, -1 when none does
	Chosen int     `json:"chosen"`           // index of the recommended one, -1 when there is none
	// Noise is how much single runs of one setting differ, as a ratio-1: one
	// standard deviation.
	Noise float64 `json:"noise"`
	// USL is the fit of the universal scalability law; without one NoUSL says why.
	USL   *USL   `json:"usl,omitempty"`
	NoUSL string `json:"no_usl,omitempty"`
	// Formulas are the literature's for worker counts; without any NoFormulas
	// says why. Both are empty for knobs that do not count workers.
	Formulas   []Formula `json:"formulas,omitempty"`
	NoFormulas string    `json:"no_formulas,omitempty"`
}

// A Point is one value with what its runs measured.
type Point struct {
	Value float64 `json:"value"`
	// Goal is the estimate of the goal's metric with its 95% interval by
	// bootstrap. Ratio is how it stands to the best that can be had, worse being
	// above 1, and Error the standard error of that, as a ratio-1.
	Goal  Interval `json:"goal"`
	Ratio float64  `json:"ratio"`
	Error float64  `json:"error"`
	// Values are the medians of all metrics.
	Values map[diagnosis.Metric]float64 `json:"values"`
	Kept   bool                         `json:"kept"` // it holds the limits
	// Failed says why there are no runs, or no more.
	Failed string  `json:"failed,omitempty"`
	Visits []Visit `json:"visits"`
}

// measured reports whether the point has an estimate.
func (p *Point) measured() bool { return p.Ratio > 0 }

// A Visit is one run of a point.
type Visit struct {
	Round int `json:"round"`
	// Dropped says why the run was not counted; empty when it was.
	Dropped string `json:"dropped,omitempty"`
	Sample
}

// NearBest is how much worse than the best a smaller setting may be, as a ratio-1.
const NearBest = 0.03

// value returns a metric of a sample. Elapsed time and throughput are derived when
// the run did not state them.
func (s *Sample) value(m diagnosis.Metric) (float64, bool) {
	if v, ok := s.Values[m]; ok {
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	seconds := s.Elapsed.Seconds()
	switch {
	case m == diagnosis.Elapsed && seconds > 0:
		return seconds, true
	case m == diagnosis.OpsPerSec && seconds > 0 && s.Ops > 0:
		return s.Ops / seconds, true
	}
	return 0, false
}

// settle computes what the search goes by, and finish all that follows from
// the visits.
func (c *Curve) settle(keep []Keep) *polished {
	fit := c.polish()
	for i := range c.Points {
		p := &c.Points[i]
		p.Values = medians(p.Visits)
		p.Ratio, p.Error = 0, 0
		p.Kept = len(fit.of[i]) > 0 && holdsAll(keep, p.Values)
	}
	c.Noise = bounded(math.Expm1(fit.spread))
	c.choose(fit)
	return fit
}

func (c *Curve) finish(keep []Keep, seed uint64) {
	fit := c.settle(keep)
	random := rand.New(rand.NewPCG(seed, 0xc0ffee))
	for i := range c.Points {
		if len(fit.of[i]) > 0 {
			c.Points[i].Goal = fit.interval(i, random)
		}
	}
}

func holdsAll(keep []Keep, values map[diagnosis.Metric]float64) bool {
	for _, k := range keep {
		if v, ok := values[k.Metric]; !ok || !k.holds(v) {
			return false
		}
	}
	return true
}

// choose finds the best point and the smallest that is near it. Where no point
// holds the limits, ratios are to the best of all.
func (c *Curve) choose(fit *polished) {
	c.Best, c.Chosen = c.best(fit, true), -1
	best := c.Best
	if best < 0 {
		best = c.best(fit, false)
	}
	if best < 0 {
		return
	}
	c.compare(fit, best)
	for i := range c.Points {
		if p := &c.Points[i]; c.Best >= 0 && p.Kept && p.near() {
			c.Chosen = i
			return
		}
	}
}

// best returns the index of the best point, of those that hold the limits if that
// is asked for; -1 of none.
func (c *Curve) best(fit *polished, kept bool) int {
	best := -1
	for i := range c.Points {
		if len(fit.of[i]) > 0 && (c.Points[i].Kept || !kept) && (best < 0 || c.better(fit.level[i], fit.level[best])) {
			best = i
		}
	}
	return best
}

func (c *Curve) better(a, b float64) bool {
	if c.Goal.Max {
		return a > b
	}
	return a < b
}

// near reports whether the point may be within 3% of the best, one standard
// error allowed.
func (p *Point) near() bool {
	return p.measured() && math.Log(p.Ratio)-math.Log1p(p.Error) <= math.Log1p(NearBest)
}

// unclear is the number of standard errors within which two levels cannot be
// told apart.
const unclear = 2

// compare sets each point's ratio to what can be had.
func (c *Curve) compare(fit *polished, best int) {
	sum, weights := 0.0, 0.0
	for i := range c.Points {
		apart := math.Abs(fit.level[i] - fit.level[best])
		if i != best && (len(fit.of[i]) == 0 || c.Points[i].Kept != c.Points[best].Kept || apart > unclear*math.Hypot(fit.err(i), fit.err(best))) {
			continue
		}
		w := 1 / max(fit.err(i)*fit.err(i), 1e-12)
		sum, weights = sum+w*fit.level[i], weights+w
	}
	level, err := sum/weights, math.Sqrt(1/weights)
	for i := range c.Points {
		if len(fit.of[i]) == 0 {
			continue
		}
		worse := fit.level[i] - level
		if c.Goal.Max {
			worse = -worse
		}
		c.Points[i].Ratio = bounded(math.Exp(worse))
		c.Points[i].Error = bounded(math.Expm1(math.Hypot(fit.err(i), err)))
	}
}

// hangs returns the points on which the choice depends and whose runs do not
// decide yet: those at most as large as the chosen one whose ratio cannot be
// told from the margin, and the best, with which they are compared.
func (c *Curve) hangs() (list []int) {
	if c.Chosen < 0 {
		return nil
	}
	for i := 0; i <= c.Chosen; i++ {
		p := &c.Points[i]
		if !p.Kept || p.Failed != "" || i == c.Best {
			continue
		}
		if off := math.Abs(math.Log(p.Ratio) - math.Log1p(NearBest)); off < unclear*math.Log1p(p.Error) {
			list = append(list, i)
		}
	}
	if len(list) > 0 && !slices.Contains(list, c.Best) {
		list = append(list, c.Best)
	}
	return list
}

// medians returns the medians of all metrics over the counted visits.
func medians(visits []Visit) map[diagnosis.Metric]float64 {
	all := map[diagnosis.Metric][]float64{}
	for i := range visits {
		v := &visits[i]
		if v.Dropped != "" {
			continue
		}
		for m := range v.Values {
			if x, ok := v.value(m); ok {
				all[m] = append(all[m], x)
			}
		}
		for _, m := range []diagnosis.Metric{diagnosis.Elapsed, diagnosis.OpsPerSec} {
			if _, stated := v.Values[m]; stated {
				continue
			}
			if x, ok := v.value(m); ok {
				all[m] = append(all[m], x)
			}
		}
	}
	out := make(map[diagnosis.Metric]float64, len(all))
	for m, list := range all {
		out[m] = middle(list)
	}
	return out
}

// polished is the additive fit of log(goal) = level of the point + effect of
// the round + rest.
type polished struct {
	level  []float64   // by point
	of     [][]float64 // by point: logs of the goal without the rounds' effects
	spread float64     // standard deviation of single runs
	rests  []float64   // of all points together
}

// polishSweeps is how often rows and columns take turns; medians settle in two
// or three.
const polishSweeps = 8

// polish is Tukey's median polish: rounds that were slow as a whole, for a
// neighbour or a clock that fell, are no evidence about a setting, and a wild
// run moves nothing.
func (c *Curve) polish() *polished {
	n := len(c.Points)
	f := &polished{level: make([]float64, n), of: make([][]float64, n)}
	type run struct {
		round int
		log   float64
	}
	runs := make([][]run, n)
	rounds := map[int]float64{}
	for i := range c.Points {
		for j := range c.Points[i].Visits {
			v := &c.Points[i].Visits[j]
			if x, ok := v.value(c.Goal.Metric); ok && x > 0 && v.Dropped == "" {
				runs[i] = append(runs[i], run{v.Round, math.Log(x)})
				rounds[v.Round] = 0
			}
		}
	}
	for range polishSweeps {
		rest := map[int][]float64{}
		for i := range runs {
			f.of[i] = f.of[i][:0]
			for _, r := range runs[i] {
				f.of[i] = append(f.of[i], r.log-rounds[r.round])
			}
			f.level[i] = middle(f.of[i])
			for _, r := range runs[i] {
				rest[r.round] = append(rest[r.round], r.log-f.level[i])
			}
		}
		effects := make([]float64, 0, len(rest))
		for round, list := range rest {
			rounds[round] = middle(list)
			effects = append(effects, rounds[round])
		}
		common := middle(effects)
		for round := range rounds {
			rounds[round] -= common
		}
	}
	f.measureSpread()
	return f
}

// measureSpread takes the spread from the differences within points: half of
// those of a normal distribution are below 0.954 standard deviations, and a
// median of them does not see wild runs.
func (f *polished) measureSpread() {
	var differences []float64
	for i, list := range f.of {
		for j, a := range list {
			for _, b := range list[j+1:] {
				differences = append(differences, math.Abs(a-b))
			}
			if n := len(list); n > 1 {
				f.rests = append(f.rests, (a-f.level[i])*math.Sqrt(float64(n)/float64(n-1)))
			}
		}
	}
	f.spread = middle(differences) / 0.954
}

// err returns the standard error of a point's level: of a median, which for few
// runs is nearly that of a mean.
func (f *polished) err(i int) float64 {
	n := float64(len(f.of[i]))
	switch {
	case n == 0:
		return math.Inf(1)
	case n <= 2:
		return f.spread / math.Sqrt(n)
	}
	return 1.2 * f.spread / math.Sqrt(n)
}

const (
	pointResamples = 1000
	// ownRests is how many runs a point needs for its own spread to be known;
	// with fewer, that of all points stands for it.
	ownRests = 8
)

// interval returns the point's estimate and its 95% interval by bootstrap of the
// rests.
func (f *polished) interval(i int, random *rand.Rand) Interval {
	list := f.of[i]
	rests := f.rests
	if n := len(list); n >= ownRests {
		rests = make([]float64, n)
		for j, a := range list {
			rests[j] = a - f.level[i]
		}
	}
	at := math.Exp(f.level[i])
	if len(rests) < 2 {
		return Interval{at, 0, math.Inf(1)} // one run shows no spread
	}
	levels := make([]float64, pointResamples)
	draw := make([]float64, len(list))
	for k := range levels {
		for j := range draw {
			draw[j] = rests[random.IntN(len(rests))]
		}
		levels[k] = middle(draw)
	}
	slices.Sort(levels)
	low, high := levels[pointResamples/40], levels[pointResamples-1-pointResamples/40]
	return Interval{at, math.Exp(f.level[i] + min(low, 0)), math.Exp(f.level[i] + max(high, 0))}
}

// bounded keeps what a saved file can make of a ratio within what JSON can say.
func bounded(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}

// middle returns the median, 0 of none.
func middle(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return statistics.Median(list)
}
