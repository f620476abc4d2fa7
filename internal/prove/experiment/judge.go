package experiment

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// What a trial may claim wrongly. Without any difference between the arms, the
// primary metric is called improved or regressed with probability falsely at
// most, however often it was looked at, and so is any of all other metrics
// taken together. "Same" rests on a 95% interval that must lie within the
// margin: at each of three looks it is wrong with 2.5% at most. A change that
// keeps to the limits of its guards is rejected for one of them with probability
// falsely at most.
const (
	falsely = 0.05
	// falselyExact is what is kept of it for counters, which may also be decided
	// as exact: of a counter with normal noise, two values of each arm look exact
	// and different by chance in no more than 1.5% of trials, whatever its noise
	// (a simulation is in the tests). The same is kept of what all other metrics
	// may claim; see [timesAmong].
	falselyExact = 0.015
	level        = 0.95 // of intervals
	power        = 0.8  // with which Need pairs would decide
)

// Judge computes Effects, Conclusion, Why, Pairs, Dropped and Looks anew from
// what was declared (Primary, Guards, Margin, Floor, Most, Seed, Identical) and the rounds,
// and from nothing else: a saved trial says the same again.
func (t *Trial) Judge() {
	pairs := t.pairs()
	t.Pairs, t.Dropped = len(pairs), t.droppedPairs()
	t.Looks = []int{}
	for _, n := range looks(t.planned()) {
		if n <= len(pairs) {
			t.Looks = append(t.Looks, n)
		}
	}
	if t.nominal.constant == nil || t.nominal.most != t.Most {
		t.nominal = nominal{t.Most, map[float64][]float64{}, map[float64]float64{}}
	}
	j := judge{Trial: t, pairs: pairs, limits: t.limits(), counters: t.otherCounters()}
	t.Effects = j.effects()
	t.conclude()
	t.warn()
}

// planned is Most within its bounds; a trial that was put together by hand may
// have none.
func (t *Trial) planned() int {
	if t.Most <= 0 {
		return DefaultPairs
	}
	return min(t.Most, MaxPairs)
}

func (t *Trial) limits() map[diagnosis.Metric]Guard {
	limits := make(map[diagnosis.Metric]Guard, len(t.Guards))
	for _, g := range t.Guards {
		limits[g.Metric] = g
	}
	return limits
}

// A judge is a trial with what its effects are computed from.
type judge struct {
	*Trial
	pairs    [][2]values
	limits   map[diagnosis.Metric]Guard
	counters int // beside the primary
}

// otherCounters returns how many counters are not the primary.
func (t *Trial) otherCounters() (n int) {
	for _, m := range t.allMetrics() {
		if m != t.Primary && InfoOf(m).Counter {
			n++
		}
	}
	return n
}

// among is with how many counters a metric is read together: the primary with none.
func (j *judge) among(m diagnosis.Metric) int {
	if m == j.Primary {
		return 1
	}
	return j.counters
}

// deciding reports whether a counter may decide a trial whose times do not: it tells
// what a program does, and not when things happen.
func deciding(m diagnosis.Metric) bool { return InfoOf(m).Counter && !InfoOf(m).Chance }

// alpha returns what a metric may be wrong with as the primary, when it is judged by tests:
// counters that are decided as exact, itself or others in its place, have their part.
func (t *Trial) alpha(m diagnosis.Metric) float64 {
	if InfoOf(m).Counter || slices.ContainsFunc(t.allMetrics(), deciding) {
		return falsely - falselyExact
	}
	return falsely
}

// exact returns that of a trial, for a metric among those with which it is read.
func (j *judge) exact(m diagnosis.Metric) (counter, bool) { return j.exactAmong(m, j.among(m)) }

// effects returns those of all metrics, in their order, with the verdicts.
func (j *judge) effects() []Effect {
	list := []Effect{}
	for _, m := range j.order() {
		list = append(list, j.effect(m))
	}
	j.others(list)
	for i := range list {
		j.guard(&list[i])
	}
	return list
}

// order returns the primary, the guards, and the rest.
func (j *judge) order() []diagnosis.Metric {
	var list []diagnosis.Metric
	add := func(m diagnosis.Metric) {
		if m != "" && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	add(j.Primary)
	for _, g := range j.Guards {
		add(g.Metric)
	}
	for _, m := range j.allMetrics() {
		add(m)
	}
	return list
}

// effect judges a metric by itself; of all but the primary and exact counters, the verdict is
// still open.
func (j *judge) effect(m diagnosis.Metric) Effect {
	if c, exact := j.exact(m); exact {
		return c.effect(m, timesAmong(exactTimes, j.among(m)))
	}
	s := j.series(j.pairs, m)
	e := Effect{Metric: m, Verdict: Inconclusive, Pairs: len(s.d), P: math.NaN()}
	e.A, e.MinA = medianMin(s.a)
	e.B, e.MinB = medianMin(s.b)
	low, high := j.interval(m, s.d)
	e.Ratio, e.Low, e.High = math.Exp(statistics.HodgesLehmann(s.d)), math.Exp(low), math.Exp(high)
	if len(s.d) == 0 {
		e.A, e.B, e.MinA, e.MinB = j.glimpse(m)
		return e
	}
	e.P = statistics.SignedRank(s.d)
	if m == j.Primary {
		e.Verdict = j.sequential(m, s)
	}
	return e
}

// glimpse returns the medians and minima of what counting runs saw of a metric that
// no pair measured: two values of each arm, from which nothing follows.
func (t *Trial) glimpse(m diagnosis.Metric) (a, b, minA, minB float64) {
	arms := t.counted(m)
	a, minA = medianMin(arms[0])
	b, minB = medianMin(arms[1])
	return a, b, minA, minB
}

func medianMin(x []float64) (median, least float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	return statistics.Median(x), slices.Min(x)
}

// interval returns the 95% interval of the centre of log ratios.
func (j *judge) interval(m diagnosis.Metric, d []float64) (low, high float64) {
	if len(d) < leastPairs {
		return math.NaN(), math.NaN()
	}
	// Each metric has its own generator, so that one more does not change the
	// others' intervals.
	name := fnv.New64a()
	name.Write([]byte(m))
	o := statistics.BootstrapOptions{Draws: j.drawsOf(len(d)), Seed: j.Seed ^ name.Sum64()}
	return statistics.Bootstrap(len(d), statistics.Centre(d), level, o)
}

// drawsOf returns how often n pairs are drawn again. The cost of a draw grows with the square
// of n: beyond 200 pairs fewer have to do, 1000 at least.
func (t *Trial) drawsOf(n int) int {
	if t.draws > 0 {
		return t.draws
	}
	const many = 200
	fewer := float64(many*many) / float64(n*n)
	return int(statistics.DefaultDraws * min(max(fewer, 0.1), 1))
}

// others decides the metrics that are neither the primary nor exact, all of them
// together by Holm's procedure. The level is the one that may be used at every
// look, because it is the primary that decided which look became the last.
func (j *judge) others(list []Effect) {
	var open []*Effect
	for i := range list {
		if e := &list[i]; e.Metric != j.Primary && !e.Exact && e.Pairs >= leastPairs {
			open = append(open, e)
		}
	}
	slices.SortStableFunc(open, func(a, b *Effect) int { return cmp.Compare(a.P, b.P) })
	planned := looks(j.planned())
	significant := true
	for i, e := range open {
		significant = significant && e.P <= j.constant(planned, (falsely-falselyExact)/float64(len(open)-i))
		low, high := math.Log(e.Low), math.Log(e.High)
		switch {
		case significant && j.direction(e.Metric, low, high, math.Log(e.Ratio), e.Pairs) != Inconclusive:
			e.Verdict = verdictOf(e.Metric, math.Log(e.Ratio))
		case j.within(e.Metric, low, high):
			e.Verdict = Same
		}
	}
	adjust(open)
	for i := range list {
		if list[i].Verdict == Inconclusive {
			list[i].Need = j.need(list[i])
			list[i].Open = j.reason(&list[i], len(open))
		}
	}
}

// adjust makes the p values of metrics that are read together those of Holm.
func adjust(list []*Effect) {
	p := make([]float64, len(list))
	for i, e := range list {
		p[i] = e.P
	}
	for i, adjusted := range statistics.Holm(p) {
		list[i].P = adjusted
	}
}
