package experiment

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/internal/statistics"
)

// What a trial may claim wrongly. Without any difference between the arms, the
// primary metric is called improved or regressed with probability falsely at
// most, however often it was looked at, and so is any of all other metrics
// taken together. "Same" rests on a 95 % interval that must lie within the
// margin: at each of three looks it is wrong with 2.5 % at most.
const (
	falsely = 0.05
	// falselyExact is what is kept of it for counters, which may also be decided
	// as exact: of a counter with normal noise, two values of each arm look exact
	// and different by chance in no more than 1.5 % of trials, whatever its noise
	// (a simulation is in the tests).
	falselyExact = 0.015
	level        = 0.95 // of intervals
	power        = 0.8  // with which Need pairs would decide
)

// looks are the numbers of pairs after which a trial of at most so many is
// looked at: the last, half of it and so on, as long as the rank test of so few
// can reach the level there. 40 gives 10, 20, 40.
func looks(most int) []int {
	at := []int{most}
	for n := most / 2; n >= leastPairs; n /= 2 {
		spent := (falsely - falselyExact) * math.Pow(float64(n)/float64(most), statistics.Spending)
		if math.Exp2(float64(1-n)) > spent {
			break
		}
		at = append([]int{n}, at...)
	}
	return at
}

// Judge computes Effects, Conclusion, Why, Pairs, Dropped and Looks anew from
// what was declared (Primary, Guards, Margin, Floor, Most, Seed) and the rounds,
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
	j := judge{Trial: t, pairs: pairs, limits: t.limits()}
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

func (t *Trial) limits() map[diagnosis.Metric]float64 {
	limits := make(map[diagnosis.Metric]float64, len(t.Guards))
	for _, g := range t.Guards {
		limits[g.Metric] = g.Limit
	}
	return limits
}

// A judge is a trial with what its effects are computed from.
type judge struct {
	*Trial
	pairs  [][2]values
	limits map[diagnosis.Metric]float64
}

// effects are those of all metrics, in their order, with the verdicts.
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

// order is the primary, the guards, and the rest.
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

// effect is what is said of a metric by itself; of all but the primary and exact
// counters, the verdict is still open.
func (j *judge) effect(m diagnosis.Metric) Effect {
	if e, exact := j.exact(m); exact {
		return e
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

// glimpse is the medians and minima of what counting runs saw of a metric that
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

// interval is the 95 % interval of the centre of log ratios.
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

// drawsOf is how often n pairs are drawn again. The cost of a draw grows with
// the square of n: beyond 200 pairs fewer have to do, 2000 at least.
func (t *Trial) drawsOf(n int) int {
	if t.draws > 0 {
		return t.draws
	}
	const many = 200
	fewer := float64(many*many) / float64(n*n)
	return int(statistics.DefaultDraws * min(max(fewer, 0.2), 1))
}

// sequential is the verdict of the primary: that of the first look that has one,
// if all pairs together do not speak against it. A trial that was ended between
// two looks is looked at with the level of the last: looking once more at a
// level that was already spent stays below what the later looks would have had.
func (j *judge) sequential(m diagnosis.Metric, s series) Verdict {
	planned := looks(j.planned())
	levels := j.boundaries(planned, alphaOf(m))
	verdict := Inconclusive
	done := 0
	for done < len(planned) && planned[done] <= len(j.pairs) && verdict == Inconclusive {
		verdict = j.look(m, s.first(planned[done]), levels[done])
		done++
	}
	switch {
	case done == 0 || planned[done-1] == len(j.pairs):
		return verdict
	case verdict == Inconclusive:
		return j.look(m, s.d, levels[done-1])
	default:
		return j.stillHolds(m, s, verdict)
	}
}

// stillHolds keeps a verdict that was reached at an earlier look, before rounds
// that were run for the guards, only when all pairs agree with it.
func (j *judge) stillHolds(m diagnosis.Metric, s series, v Verdict) Verdict {
	low, high := j.interval(m, s.d)
	holds := j.direction(m, low, high, statistics.HodgesLehmann(s.d), len(s.d)) == v
	if v == Same {
		holds = j.within(m, low, high, len(s.d))
	}
	if !holds {
		return Inconclusive
	}
	return v
}

// nominal remembers levels, which cost a millisecond to find and are wanted at
// every look.
type nominal struct {
	most       int // pairs, that they are for
	boundaries map[float64][]float64
	constant   map[float64]float64
}

func (t *Trial) boundaries(planned []int, alpha float64) []float64 {
	if _, known := t.nominal.boundaries[alpha]; !known {
		t.nominal.boundaries[alpha] = statistics.Boundaries(planned, alpha)
	}
	return t.nominal.boundaries[alpha]
}

func (t *Trial) constant(planned []int, alpha float64) float64 {
	if _, known := t.nominal.constant[alpha]; !known {
		t.nominal.constant[alpha] = statistics.Constant(planned, alpha)
	}
	return t.nominal.constant[alpha]
}

// alphaOf is what a metric may be wrong with as the primary, when it is judged
// by tests.
func alphaOf(m diagnosis.Metric) float64 {
	if InfoOf(m).Counter {
		return falsely - falselyExact
	}
	return falsely
}

// look is the verdict on log ratios when p may be at most alpha.
func (j *judge) look(m diagnosis.Metric, d []float64, alpha float64) Verdict {
	if len(d) < leastPairs {
		return Inconclusive
	}
	low, high := j.interval(m, d)
	if statistics.SignedRank(d) <= alpha {
		if v := j.direction(m, low, high, statistics.HodgesLehmann(d), len(d)); v != Inconclusive {
			return v
		}
	}
	if j.within(m, low, high, len(d)) {
		return Same
	}
	return Inconclusive
}

// direction is improved or regressed when the interval of log ratios excludes
// zero and the centre is beyond the machine's noise.
func (j *judge) direction(m diagnosis.Metric, low, high, centre float64, n int) Verdict {
	if !(low > 0 || high < 0) || math.Abs(centre) <= j.blur(m, n) {
		return Inconclusive
	}
	return verdictOf(m, centre)
}

// blur is the noise of the machine in logarithms. Counters and memory have none.
func (j *judge) blur(m diagnosis.Metric, n int) float64 {
	if !InfoOf(m).timed() {
		return 0
	}
	return math.Log1p(j.noise(n))
}

// same is the margin in logarithms, at least the noise.
func (j *judge) same(m diagnosis.Metric, n int) float64 {
	return max(math.Log1p(j.Margin), j.blur(m, n))
}

func (j *judge) within(m diagnosis.Metric, low, high float64, n int) bool {
	margin := j.same(m, n)
	return low >= -margin && high <= margin
}

// verdictOf is which way a log ratio goes.
func verdictOf(m diagnosis.Metric, logRatio float64) Verdict {
	if (logRatio > 0) == InfoOf(m).More {
		return Improved
	}
	return Regressed
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
		significant = significant && e.P <= j.constant(planned, falsely/float64(len(open)-i))
		low, high := math.Log(e.Low), math.Log(e.High)
		switch {
		case significant && j.direction(e.Metric, low, high, math.Log(e.Ratio), e.Pairs) != Inconclusive:
			e.Verdict = verdictOf(e.Metric, math.Log(e.Ratio))
		case j.within(e.Metric, low, high, e.Pairs):
			e.Verdict = Same
		}
	}
	adjust(open)
	for i := range list {
		if list[i].Verdict == Inconclusive {
			list[i].Need = j.need(list[i])
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

// need is about how many pairs would decide: those that find the difference as
// it was estimated, or those that show it to be within the margin, whichever
// are fewer. 0 when nothing can be said.
func (j *judge) need(e Effect) int {
	sd := e.pairSD()
	if e.Pairs < leastPairs || !(sd > 0) {
		return 0
	}
	centre := math.Abs(math.Log(e.Ratio))
	need := statistics.PairsNeeded(sd, centre, alphaOf(e.Metric), power)
	if room := j.same(e.Metric, e.Pairs) - centre; room > 0 {
		need = min(need, toWithin(sd, room))
	}
	return max(need, e.Pairs+1)
}

// pairSD is the standard deviation of one pair's log ratio as far as it matters
// to the estimate: from the width of the interval.
func (e Effect) pairSD() float64 {
	half := (math.Log(e.High) - math.Log(e.Low)) / 2
	return half / statistics.Normal((1+level)/2) * math.Sqrt(float64(e.Pairs))
}

// toWithin is how many pairs make half of the interval as small as room.
func toWithin(sd, room float64) int {
	n := math.Pow(statistics.Normal((1+level)/2)*sd/room, 2)
	return int(math.Ceil(min(n, 1<<30)))
}

// guard holds an effect to its limit, by its interval alone.
func (j *judge) guard(e *Effect) {
	limit, guarded := j.limits[e.Metric]
	if !guarded {
		return
	}
	e.Guarded, e.Guard = true, limit
	ratio, low, high := e.Worse()
	if e.Exact {
		low, high = ratio, ratio
	}
	switch {
	case low > 1+limit:
		e.Broken = true
	case high <= 1+limit:
	default:
		e.Unclear = true
		e.Need = j.needOfGuard(*e, ratio)
	}
}

func (j *judge) needOfGuard(e Effect, worse float64) int {
	if e.Pairs < leastPairs {
		return looks(j.planned())[0]
	}
	return max(toWithin(e.pairSD(), math.Abs(math.Log1p(e.Guard)-math.Log(worse))), e.Pairs+1)
}

// hopefully is how many pairs decide a guard if it is as far from its limit as it
// looks, or as it is without any effect: an estimate of few pairs that happens
// to lie at the limit does not end the search.
func (e Effect) hopefully() int {
	if e.Pairs < leastPairs {
		return e.Need
	}
	worse, _, _ := e.Worse()
	limit := math.Log1p(e.Guard)
	return toWithin(e.pairSD(), max(math.Abs(limit-math.Log(worse)), limit))
}
