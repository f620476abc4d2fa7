package experiment

import (
	"fmt"
	"math"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// counts are rounds with everything counted, before any pair.
func counts(m diagnosis.Metric, a, b []float64) (list []Round) {
	for i, arm := range [][]float64{a, b} {
		for _, v := range arm {
			list = append(list, Round{Arm: []string{"A", "B"}[i], Count: true, Sample: Sample{Values: values{m: v}}})
		}
	}
	return list
}

// A counter is exact when it hardly varies, or by little beside what its arms are apart.
func TestExact(t *testing.T) {
	for _, tt := range []struct {
		name   string
		metric diagnosis.Metric
		a, b   []float64
		among  int
		exact  bool
		spread float64
	}{
		{"the same each time", diagnosis.AllocsOp, []float64{7, 7}, []float64{7, 7}, 1, true, 0},
		{"by two in a thousand", diagnosis.AllocsOp, []float64{999, 1001}, []float64{1000, 1000}, 1, true, 0.002},
		{"by three in a thousand", diagnosis.AllocsOp, []float64{998, 1001}, []float64{1000, 1000}, 1, false, 0.003},
		{"by little of the greater arm", diagnosis.AllocsOp, []float64{1000, 1000}, []float64{6, 7}, 1, true, 0.001},
		{"six times what it varies by", diagnosis.AllocsOp, []float64{160, 160}, []float64{95, 105}, 1, true, 0.0625},
		{"less than that", diagnosis.AllocsOp, []float64{150, 150}, []float64{95, 105}, 1, false, 0.066667},
		{"among four twice as much", diagnosis.AllocsOp, []float64{160, 160}, []float64{95, 105}, 4, false, 0.0625},
		{"among four, and enough", diagnosis.AllocsOp, []float64{400, 400}, []float64{95, 105}, 4, true, 0.025},
		{"when things happen has a part", diagnosis.GCPerOp, []float64{400, 400}, []float64{95, 105}, 1, false, 0.025},
		{"one event more would be a tenth", diagnosis.GCPerOp, []float64{10, 10}, []float64{10, 10}, 1, false, 0.1},
		{"one event more would be nothing", diagnosis.GCPerOp, []float64{1000, 1000}, []float64{1000, 1000}, 1, true, 0.001},
		{"counted once", diagnosis.AllocsOp, []float64{7}, []float64{7, 7}, 1, false, 0},
		{"counted in one arm", diagnosis.AllocsOp, []float64{7, 7}, nil, 1, false, 0},
		{"a time", diagnosis.P99, []float64{7, 7}, []float64{7, 7}, 1, false, 0},
		{"nothing", diagnosis.AllocsOp, []float64{0, 0}, []float64{0, 0}, 1, true, 0},
		{"nothing in one arm", diagnosis.AllocsOp, []float64{0, 0}, []float64{0, 1}, 1, false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Rounds: counts(tt.metric, tt.a, tt.b)}
			c, exact := trial.exactAmong(tt.metric, tt.among)
			if exact != tt.exact || math.Abs(c.spread-tt.spread) > 1e-6 {
				t.Errorf("exact = %v with a spread of %v, want %v, %v", exact, c.spread, tt.exact, tt.spread)
			}
		})
	}
}

// The primary is read alone, another counter with all the others: by six of its spreads the one is
// exact and the other is not.
func TestExactOfTrial(t *testing.T) {
	rounds := counts(diagnosis.AllocsOp, []float64{160, 160}, []float64{95, 105})
	for primary, want := range map[diagnosis.Metric]bool{diagnosis.AllocsOp: true, diagnosis.Elapsed: false} {
		j := &judge{Trial: &Trial{Primary: primary, Rounds: rounds}, counters: 4}
		if _, got := j.exact(diagnosis.AllocsOp); got != want {
			t.Errorf("exact(%s) = %v where %s is the primary, want %v", diagnosis.AllocsOp, got, primary, want)
		}
	}
}

// Pairs make a counter exact where nothing was counted before them, and only there.
func TestExactOfPairs(t *testing.T) {
	pairs := func(a, b float64, n int) (list []Round) {
		for i := range n {
			for j, v := range []float64{a, b} {
				list = append(list, Round{Pair: i + 1, Arm: []string{"A", "B"}[j], Sample: Sample{Values: values{diagnosis.AllocsOp: v}}})
			}
		}
		return list
	}
	for _, tt := range []struct {
		name   string
		rounds []Round
		exact  bool
		pairs  int
	}{
		{"pairs alone", pairs(7, 9, 3), true, 3},
		{"one pair", pairs(7, 9, 1), false, 1},
		{"counted, and pairs", append(counts(diagnosis.AllocsOp, []float64{7, 7}, []float64{9, 9}), pairs(7, 9, 3)...), true, 0},
		{"counting varied, pairs do not", append(counts(diagnosis.AllocsOp, []float64{7, 8}, []float64{9, 8}), pairs(7, 9, 3)...), false, 0},
		{"counted in one arm, and pairs", append(counts(diagnosis.AllocsOp, []float64{7, 7}, nil), pairs(7, 9, 3)...), false, 0},
		{"counted in the other arm, and pairs", append(counts(diagnosis.AllocsOp, nil, []float64{7, 7}), pairs(7, 9, 3)...), false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, exact := (&Trial{Rounds: tt.rounds}).exact(diagnosis.AllocsOp)
			if exact != tt.exact || c.pairs != tt.pairs {
				t.Errorf("exact = %v of %d pairs, want %v of %d", exact, c.pairs, tt.exact, tt.pairs)
			}
		})
	}
}

// A counter differs from half a hundredth on, and from four times what it varies by; among
// several that must be more, and what is between is open.
func TestCounterEffect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      float64
		spread float64
		times  float64
		want   Verdict
	}{
		{"the same", 1000, 0, exactTimes, Same},
		{"less than half a hundredth", 1004, 0, exactTimes, Same},
		{"half a hundredth", 1005.001, 0, exactTimes, Regressed},
		{"half a hundredth less", 994.999, 0, exactTimes, Improved},
		{"less than four times the spread", 1007, 0.002, exactTimes, Same},
		{"four times the spread", 1008.001, 0.002, exactTimes, Regressed},
		{"four times the spread, among four", 1008.001, 0.002, 2 * exactTimes, Inconclusive},
		{"eight times the spread, among four", 1016.001, 0.002, 2 * exactTimes, Regressed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := counter{arms: [2][]float64{{1000, 1000}, {tt.b, tt.b}}, spread: tt.spread, pairs: 3}
			e := c.effect(diagnosis.AllocsOp, tt.times)
			if e.Verdict != tt.want || e.Pairs != 3 || !e.Exact || !math.IsNaN(e.P) {
				t.Errorf("effect = %+v, want %s", e, tt.want)
			}
		})
	}
	e := counter{arms: [2][]float64{{90, 100, 120}, {40, 50, 55}}}.effect(diagnosis.AllocsOp, exactTimes)
	got := [...]float64{e.A, e.B, e.MinA, e.MinB, e.Ratio, e.Low, e.High}
	if want := [...]float64{100, 50, 90, 40, 0.5, 40.0 / 120, 55.0 / 90}; got != want {
		t.Errorf("effect has %v, want %v", got, want)
	}
}

// Log ratios of what both arms of a pair measured; nothing stands for half of the least.
func TestSeries(t *testing.T) {
	pair := func(a, b float64) [2]values { return [2]values{{diagnosis.P99: a}, {diagnosis.P99: b}} }
	for _, tt := range []struct {
		name  string
		pairs [][2]values
		want  []float64 // b ÷ a
	}{
		{"none", nil, nil},
		{"two", [][2]values{pair(1, 2), pair(4, 1)}, []float64{2, 0.25}},
		{"one arm has it", [][2]values{{{diagnosis.P99: 1}, {}}, {{}, {diagnosis.P99: 1}}, pair(1, 2)}, []float64{2}},
		{"nothing", [][2]values{pair(0, 0)}, []float64{1}},
		{"from nothing", [][2]values{pair(0, 8), pair(2, 2)}, []float64{8, 1}},
		{"to nothing", [][2]values{pair(8, 0), pair(2, 2)}, []float64{0.125, 1}},
		{"from nothing, the least before more", [][2]values{pair(0, 2), pair(8, 8), pair(16, 16)}, []float64{2, 1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(Trial).series(tt.pairs, diagnosis.P99)
			var got []float64
			for _, d := range s.d {
				got = append(got, math.Round(1e9*math.Exp(d))/1e9)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || len(s.a) != len(tt.want) || len(s.b) != len(tt.want) {
				t.Errorf("series = %v (%v, %v), want %v", got, s.a, s.b, tt.want)
			}
		})
	}
}

// Of a pair that was timed and counted, counting tells what no timed run did.
func TestPairsAreMerged(t *testing.T) {
	round := func(pair int, arm string, count bool, v values) Round {
		return Round{Pair: pair, Arm: arm, Count: count, Sample: Sample{Values: v}}
	}
	dropped := round(3, "A", false, values{"t": 9})
	dropped.Dropped = "busy"
	trial := &Trial{Rounds: []Round{
		round(0, "A", false, values{"t": 100}), round(0, "B", false, values{"t": 100}), // warming up
		round(2, "B", false, values{"t": 4}), round(2, "A", false, values{"t": 3, "half": 1}),
		round(2, "A", true, values{"t": 30, "n": 5, "half": 6}), round(2, "B", true, values{"t": 40, "n": 6, "half": 7}),
		round(1, "A", false, values{"t": 1}), round(1, "B", false, values{"t": 2}),
		dropped, round(3, "B", false, values{"t": 9}),
		round(4, "A", true, values{"n": 7}), round(4, "B", true, values{"n": 8}),
	}}
	want := "[[map[t:1] map[t:2]] [map[half:1 n:5 t:3] map[n:6 t:4]] [map[n:7] map[n:8]]]"
	if got := fmt.Sprint(trial.pairs()); got != want {
		t.Errorf("pairs() = %s, want %s", got, want)
	}
	if n := trial.droppedPairs(); n != 1 {
		t.Errorf("droppedPairs() = %d, want 1", n)
	}
}

// What decides when nobody said what is to.
func TestFirstPrimary(t *testing.T) {
	for want, measured := range map[diagnosis.Metric][]diagnosis.Metric{
		diagnosis.CPUPerOp: {diagnosis.Elapsed, diagnosis.CPUPerOp, diagnosis.AllocsOp},
		diagnosis.Elapsed:  {diagnosis.P99, diagnosis.Elapsed},
		diagnosis.AllocsOp: {diagnosis.P99, diagnosis.AllocsOp}, // the first of the table
	} {
		trial := &Trial{}
		for _, m := range measured {
			trial.Rounds = append(trial.Rounds, counts(m, []float64{1}, []float64{1})...)
		}
		if got := trial.firstPrimary(); got != want {
			t.Errorf("firstPrimary of %v = %s, want %s", measured, got, want)
		}
	}
	if got := new(Trial).firstPrimary(); got != diagnosis.CPUPerOp {
		t.Errorf("firstPrimary of nothing = %s, want %s", got, diagnosis.CPUPerOp)
	}
}

// What was counted is of runs with everything counted before any pair, of those that have it.
func TestCounted(t *testing.T) {
	m := diagnosis.AllocsOp
	round := func(arm string, v float64, change func(*Round)) Round {
		r := Round{Arm: arm, Count: true, Sample: Sample{Values: values{m: v}}}
		change(&r)
		return r
	}
	as := func(*Round) {}
	trial := &Trial{Rounds: []Round{
		round("A", 1, as), round("B", 2, as), round("B", 3, as), round("A", 4, as),
		round("A", 5, func(r *Round) { r.Dropped = "busy" }),
		round("A", 6, func(r *Round) { r.Pair = 1 }),
		round("A", 7, func(r *Round) { r.Count = false }),
		round("A", 8, func(r *Round) { r.Values = values{diagnosis.BytesOp: 9} }),
	}}
	if got, want := fmt.Sprint(trial.counted(m)), "[[1 4] [2 3]]"; got != want {
		t.Errorf("counted(%s) = %s, want %s", m, got, want)
	}
}
