package experiment

import (
	"math"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Verdicts on log ratios put together by hand: by their interval, their centre and their signs.
func TestLook(t *testing.T) {
	j := &judge{Trial: &Trial{Primary: diagnosis.Elapsed, Margin: 0.02, Floor: 0.1, Most: 40, draws: 500}}
	around := func(centre, width float64, n int) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = centre + width*(float64(i)/float64(n-1)-0.5)
		}
		return d
	}
	for _, tt := range []struct {
		name   string
		metric diagnosis.Metric
		d      []float64
		alpha  float64
		want   Verdict
	}{
		{"surely slower", diagnosis.Elapsed, around(0.3, 0.2, 10), 0.05, Regressed},
		{"surely faster", diagnosis.Elapsed, around(-0.3, 0.2, 10), 0.05, Improved},
		{"more a second", diagnosis.OpsPerSec, around(0.3, 0.2, 10), 0.05, Improved},
		{"less a second", diagnosis.OpsPerSec, around(-0.3, 0.2, 10), 0.05, Regressed},
		{"five pairs", diagnosis.Elapsed, around(0.3, 0.2, 5), 0.05, Inconclusive},
		{"not at this level", diagnosis.Elapsed, around(0.3, 0.2, 10), 0.001, Inconclusive},
		{"both ways", diagnosis.Elapsed, around(0.1, 1, 10), 0.05, Inconclusive},
		{"no more than the machine's noise", diagnosis.Elapsed, around(0.09, 0.1, 10), 0.05, Inconclusive},
		{"within the machine's noise", diagnosis.Elapsed, around(0.01, 0.02, 10), 0.05, Same},
		{"memory has no noise of the machine", diagnosis.PeakRSS, around(0.09, 0.1, 10), 0.05, Regressed},
		{"within the margin", diagnosis.PeakRSS, around(0, 0.02, 10), 0.05, Same},
		{"surely a little more, within the margin", diagnosis.PeakRSS, around(0.01, 0.005, 10), 0.05, Regressed},
		{"too little to call, within the margin", diagnosis.PeakRSS, around(0.01, 0.005, 10), 0.001, Same},
		{"beyond the margin above", diagnosis.PeakRSS, around(0.02, 0.06, 10), 0.001, Inconclusive},
		{"beyond the margin below", diagnosis.PeakRSS, around(-0.02, 0.06, 10), 0.001, Inconclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := j.look(tt.metric, tt.d, tt.alpha); got != tt.want {
				t.Errorf("look = %s, want %s", got, tt.want)
			}
		})
	}
	// A verdict of an earlier look stands when all pairs agree with it.
	for _, tt := range []struct {
		name string
		d    []float64
		was  Verdict
		want Verdict
	}{
		{"agrees", around(0.3, 0.2, 20), Regressed, Regressed},
		{"points the other way", around(-0.3, 0.2, 20), Regressed, Inconclusive},
		{"is not sure any more", around(0.1, 1, 20), Regressed, Inconclusive},
		{"is still the same", around(0, 0.02, 20), Same, Same},
		{"is not the same any more", around(0.3, 0.2, 20), Same, Inconclusive},
		{"may be anything now", around(0, 1, 20), Same, Inconclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := series{a: slices.Repeat([]float64{1}, len(tt.d)), d: tt.d}
			if got := j.stillHolds(diagnosis.Elapsed, s, tt.was); got != tt.want {
				t.Errorf("stillHolds(%s) = %s, want %s", tt.was, got, tt.want)
			}
		})
	}
}

// The margin is that of a time when all pairs have run: a machine that varies by a tenth in ten
// varies by a twentieth in forty.
func TestSameWithin(t *testing.T) {
	for _, tt := range []struct {
		trial         Trial
		timed, memory float64
	}{
		{Trial{Margin: 0.02, Floor: 0.1, Most: 40}, 0.05, 0.02},
		{Trial{Margin: 0.02, Floor: 0.1, Most: 10}, 0.1, 0.02},
		{Trial{Margin: 0.2, Floor: 0.1, Most: 40}, 0.2, 0.2},
		{Trial{Margin: 0.02, Most: 40}, 0.02, 0.02},
		{Trial{Margin: 0.02, Floor: 0.1}, 0.05, 0.02}, // forty when nothing was planned
	} {
		timed, memory := tt.trial.sameWithin(diagnosis.Elapsed), tt.trial.sameWithin(diagnosis.PeakRSS)
		if math.Abs(timed-tt.timed) > 1e-12 || memory != tt.memory || tt.trial.SameWithin() != timed {
			t.Errorf("%+v: same within %v, memory %v, want %v and %v", tt.trial, timed, memory, tt.timed, tt.memory)
		}
	}
}

// What counts beside the primary is decided together, the surest first (Holm's procedure).
func TestOthers(t *testing.T) {
	j := &judge{Trial: &Trial{Primary: diagnosis.Elapsed, Margin: 0.02, Most: 40}}
	j.Judge() // which has the levels
	level := j.constant(looks(40), falsely-falselyExact)
	of := func(m diagnosis.Metric, p, ratio float64) Effect {
		return Effect{Metric: m, Verdict: Inconclusive, P: p, Pairs: 20, Ratio: ratio, Low: ratio - 0.02, High: ratio + 0.02}
	}
	list := []Effect{
		of(diagnosis.Elapsed, 0.00001, 0.5),                // the primary, whose verdict is another's
		of(diagnosis.P50, level*0.9, 1.5),                  // the last of three may use all of the level
		of(diagnosis.P99, level/4, 0.5),                    // a third
		of(diagnosis.PeakRSS, level/2.5, 1.5),              // a half
		{Metric: "few", Verdict: Inconclusive, P: 0.00001}, // too few pairs
	}
	j.others(list)
	want := []Verdict{Inconclusive, Regressed, Improved, Regressed, Inconclusive}
	for i, e := range list {
		if e.Verdict != want[i] {
			t.Errorf("%s: %s, want %s", e.Metric, e.Verdict, want[i])
		}
	}
	// One that fails ends it for those after it, and p values are adjusted for all.
	list = []Effect{of(diagnosis.P50, level*0.9, 1.5), of(diagnosis.P99, level*0.9, 0.5), of(diagnosis.PeakRSS, level*0.9, 1)}
	list[2].Low, list[2].High = 0.99, 1.01
	j.others(list)
	for i, want := range []Verdict{Inconclusive, Inconclusive, Same} {
		if e := list[i]; e.Verdict != want || math.Abs(e.P-2.7*level) > 1e-9 || (e.Open == "one of 3 metrics") != (want == Inconclusive) {
			t.Errorf("%s: %s, p %v, open %q, want %s and p %v", e.Metric, e.Verdict, e.P, e.Open, want, 2.7*level)
		}
	}
}

// The law of throughput: its value, and where it may say the greatest is.
func TestUSLFigures(t *testing.T) {
	u := &USL{Lambda: Interval{Value: 100}, Sigma: Interval{Value: 0.1}, Kappa: Interval{Value: 0.01}, Tested: [2]float64{1, 16}}
	// 100 × 10 ÷ (1 + 0.1 × 9 + 0.01 × 90)
	for n, want := range map[float64]float64{1: 100, 10: 1000 / 2.8} {
		if got := u.At(n); math.Abs(got-want) > 1e-9 {
			t.Errorf("At(%v) = %v, want %v", n, got, want)
		}
	}
	for value, want := range map[float64]string{
		math.Inf(1):     "throughput never falls in the fit: κ is 0",
		33:              "the law puts it at 33, beyond twice the tested range, where it is a guess",
		32:              "",
		1.1:             "",
		math.MaxFloat64: "the law puts it at " + figures.Number(math.MaxFloat64) + ", beyond twice the tested range, where it is a guess",
		1:               "throughput falls from the first in the fit: one is best",
	} {
		u.Peak, u.NoPeak = nil, ""
		if u.peak(Interval{Value: value}); u.NoPeak != want || (u.Peak != nil) != (want == "") {
			t.Errorf("peak(%v): %v, %q, want %q", value, u.Peak, u.NoPeak, want)
		}
	}
}

// The draws of many pairs are fewer, and a tenth at least.
func TestDraws(t *testing.T) {
	const all = statistics.DefaultDraws
	trial := &Trial{}
	for n, want := range map[int]int{10: all, 200: all, 400: all / 4, 1000: all / 10} {
		if got := trial.drawsOf(n); got != want {
			t.Errorf("drawsOf(%d) = %d, want %d", n, got, want)
		}
	}
	if trial.draws = 7; trial.drawsOf(10) != 7 {
		t.Error("what was asked for is not what is drawn")
	}
}

// pairsOf returns the rounds of pairs in which B has so many times what A has.
func pairsOf(m diagnosis.Metric, ratios ...float64) (list []Round) {
	for i, r := range ratios {
		for arm, v := range []float64{1, r} {
			list = append(list, Round{Pair: i + 1, Arm: []string{"A", "B"}[arm], Sample: Sample{Values: values{m: v}}})
		}
	}
	return list
}

// A trial is looked at after 10, 20 and 40 pairs. One that ended in between is looked at once more, at the
// level that its last look had: 0.00625 of the first.
func TestLooksInTurn(t *testing.T) {
	up := []float64{1.5, 1.51, 1.52, 1.53, 1.54, 1.55, 1.56, 1.57, 1.58, 1.59}
	down := []float64{0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, 0.58, 0.59}
	same := []float64{0.999, 1.001, 0.998, 1.002, 0.997, 1.003, 0.996, 1.004, 0.995, 1.005}
	both := []float64{0.8, 1.26, 0.82, 1.23, 0.84, 1.2, 0.86, 1.17, 0.88, 1.14}
	for _, tt := range []struct {
		name   string
		ratios []float64
		want   Verdict
	}{
		{"before the first look", up[:9], Inconclusive},
		{"at the first look", up, Regressed},
		{"at the first look, the other way", down, Improved},
		{"the same at the first look", same, Same},
		{"nothing at the first look", both, Inconclusive},
		{"after it, with a p of 0.0066", slices.Concat(both, up[:8]), Inconclusive},
		{"after it, with a p of 0.0033", slices.Concat(both, up[:9]), Regressed},
		{"at the second look", slices.Concat(both, up), Regressed},
		{"sure at the first look, and still", slices.Concat(up, up[:5]), Regressed},
		{"sure at the first look, and not any more", slices.Concat(up, down), Inconclusive},
		{"the same at the first look, and not any more", slices.Concat(same, up), Inconclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Primary: diagnosis.PeakRSS, Margin: 0.02, Most: 40, Rounds: pairsOf(diagnosis.PeakRSS, tt.ratios...)}
			trial.Judge()
			if e := trial.Effects[0]; e.Verdict != tt.want || e.Pairs != len(tt.ratios) {
				t.Errorf("the verdict is %s of %d pairs, p %.4f, want %s of %d", e.Verdict, e.Pairs, e.P, tt.want, len(tt.ratios))
			}
		})
	}
}

func TestNextLook(t *testing.T) {
	for pairs, want := range map[int]int{0: 10, 9: 10, 10: 20, 19: 20, 20: 40, 39: 40, 40: 40, 50: 40} {
		if got := NextLook(pairs, 40); got != want {
			t.Errorf("NextLook(%d, 40) = %d, want %d", pairs, got, want)
		}
	}
}

// The ratio so far has an interval from six pairs to two hundred: of a normal distribution, what 1.96 standard
// errors are.
func TestRatioSoFar(t *testing.T) {
	normal := func(n int) (ratios []float64) {
		for i := range n {
			ratios = append(ratios, 0.8*math.Exp(0.3*statistics.Normal((float64(i)+0.5)/float64(n))))
		}
		return ratios
	}
	for _, tt := range []struct {
		pairs int
		half  float64 // of the interval, in logarithms; 0 for none
	}{{1, 0}, {5, 0}, {6, 2.57 * 0.3 / math.Sqrt(6)}, {100, 1.98 * 0.3 / 10}, {200, 1.97 * 0.3 / math.Sqrt(200)}, {201, 0}} {
		trial := &Trial{Primary: diagnosis.P99, Rounds: pairsOf(diagnosis.P99, normal(tt.pairs)...)}
		got := trial.soFar()
		low, high := math.Log(0.8/got.Low), math.Log(got.High/0.8)
		if math.Abs(got.Value-0.8) > 0.001 || (got.Low > 0) != (tt.half > 0) || (got.High > 0) != (tt.half > 0) ||
			tt.half > 0 && (math.Abs(low/tt.half-1) > 0.25 || math.Abs(high/tt.half-1) > 0.25) {
			t.Errorf("soFar of %d pairs = %v, in logarithms %.3f and %.3f from it, want 0.8 and %.3f", tt.pairs, got, low, high, tt.half)
		}
	}
	if got := new(Trial).soFar(); got != (Interval{}) {
		t.Errorf("soFar of no pair = %v, want nothing", got)
	}
}

// Of metrics that are read together one whose interval has no change in it is open, however small its p is.
func TestOthersByInterval(t *testing.T) {
	j := &judge{Trial: &Trial{Primary: diagnosis.Elapsed, Margin: 0.02, Floor: 0.1, Most: 40}}
	j.Judge()
	for _, tt := range []struct {
		name             string
		metric           diagnosis.Metric
		ratio, low, high float64
		want             Verdict
	}{
		{"more", diagnosis.PeakRSS, 1.2, 1.1, 1.3, Regressed},
		{"less", diagnosis.PeakRSS, 0.8, 0.7, 0.9, Improved},
		{"perhaps none, above", diagnosis.PeakRSS, 1.2, 0.9, 1.3, Inconclusive},
		{"perhaps none, below", diagnosis.PeakRSS, 0.8, 0.7, 1.1, Inconclusive},
		{"no more than the machine's noise", diagnosis.P99, 1.06, 1.03, 1.11, Inconclusive},
		{"more than the machine's noise", diagnosis.P99, 1.08, 1.03, 1.11, Regressed},
		{"within that of all pairs", diagnosis.P99, 1.01, 0.97, 1.04, Same},
		{"beyond that of all pairs", diagnosis.P99, 1.01, 0.93, 1.04, Inconclusive},
		{"memory within the margin", diagnosis.PeakRSS, 1.001, 0.99, 1.01, Same},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := []Effect{{Metric: tt.metric, Verdict: Inconclusive, P: 1e-9, Pairs: 20, Ratio: tt.ratio, Low: tt.low, High: tt.high}}
			if j.others(list); list[0].Verdict != tt.want {
				t.Errorf("others: %s, want %s", list[0].Verdict, tt.want)
			}
		})
	}
}
