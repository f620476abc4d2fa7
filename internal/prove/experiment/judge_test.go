package experiment

import (
	"fmt"
	"math"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Where a counter may decide, the primary's tests have the rest of what may be wrong.
func TestAlpha(t *testing.T) {
	for _, tt := range []struct {
		name     string
		metric   diagnosis.Metric
		measured diagnosis.Metric
		want     float64
	}{
		{"a time alone", diagnosis.Elapsed, diagnosis.Elapsed, 0.05},
		{"a time beside a counter", diagnosis.Elapsed, diagnosis.AllocsOp, 0.035},
		{"a time beside a counter of chance", diagnosis.Elapsed, diagnosis.GCPerOp, 0.05},
		{"a counter", diagnosis.AllocsOp, diagnosis.Elapsed, 0.035},
		{"a counter of chance", diagnosis.GCPerOp, diagnosis.Elapsed, 0.035},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Rounds: counts(tt.measured, []float64{1}, []float64{1})}
			if got := trial.alpha(tt.metric); !near(got, tt.want) {
				t.Errorf("alpha(%s) = %v, want %v", tt.metric, got, tt.want)
			}
		})
	}
}

// Effects are those of the primary, the guards and the rest, each once.
func TestOrderOfEffects(t *testing.T) {
	measured := func(list ...diagnosis.Metric) (rounds []Round) {
		for _, m := range list {
			rounds = append(rounds, pairsOf(m, 1)...)
		}
		return rounds
	}
	rounds := measured(diagnosis.Elapsed, diagnosis.PeakRSS, diagnosis.AllocsOp, diagnosis.P99)
	for _, tt := range []struct {
		name    string
		primary diagnosis.Metric
		guards  []Guard
		want    string
	}{
		{"a primary", diagnosis.P99, nil, "[p99 allocs/op elapsed peak-rss]"},
		{"no primary yet", "", nil, "[allocs/op elapsed p99 peak-rss]"},
		{"guards", diagnosis.Elapsed, []Guard{{Metric: diagnosis.PeakRSS}, {Metric: diagnosis.P50}},
			"[elapsed peak-rss p50 allocs/op p99]"},
		{"a guard of the primary", diagnosis.Elapsed, []Guard{{Metric: diagnosis.Elapsed}}, "[elapsed allocs/op p99 peak-rss]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &judge{Trial: &Trial{Primary: tt.primary, Guards: tt.guards, Rounds: rounds}}
			if got := fmt.Sprint(j.order()); got != tt.want {
				t.Errorf("order() = %s, want %s", got, tt.want)
			}
		})
	}
	rounds = append(rounds, measured(diagnosis.GCPerOp, diagnosis.Faults)...)
	j := &judge{Trial: &Trial{Primary: diagnosis.AllocsOp, Rounds: rounds}}
	j.counters = j.otherCounters()
	for m, want := range map[diagnosis.Metric]int{diagnosis.AllocsOp: 1, diagnosis.GCPerOp: 2, diagnosis.P99: 2} {
		if got := j.among(m); got != want {
			t.Errorf("among(%s) = %d, want %d", m, got, want)
		}
	}
}

// The figures of one metric: of A what is 1 to 10, of B twice as much.
func TestFiguresOfEffect(t *testing.T) {
	var rounds []Round
	for i := range 10 {
		v := float64(i + 1)
		rounds = append(rounds, Round{Pair: i + 1, Arm: "A", Sample: Sample{Values: values{diagnosis.PeakRSS: v}}})
		rounds = append(rounds, Round{Pair: i + 1, Arm: "B", Sample: Sample{Values: values{diagnosis.PeakRSS: 2 * v}}})
	}
	for _, tt := range []struct {
		name   string
		metric diagnosis.Metric
		rounds []Round
		want   [8]float64 // A, B, the least of each, ratio, low, high, p
		pairs  int
		open   string
	}{
		{"ten pairs", diagnosis.PeakRSS, rounds, [8]float64{5.5, 11, 1, 2, 2, 2, 2, 2. / 1024}, 10, ""},
		{"five pairs", diagnosis.PeakRSS, rounds[:10], [8]float64{3, 6, 1, 2, 2, nan, nan, 2. / 32}, 5, "only 5 pairs"},
		{"counted alone", diagnosis.GCPerOp, counts(diagnosis.GCPerOp, []float64{10, 12}, []float64{20, 26}),
			[8]float64{11, 23, 10, 20, nan, nan, nan, nan}, 0, "only counted twice"},
		{"not measured", diagnosis.P50, rounds, [8]float64{nan, nan, nan, nan, nan, nan, nan, nan}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Primary: diagnosis.Elapsed, Guards: []Guard{{Metric: tt.metric}}, Most: 40, Rounds: tt.rounds}
			trial.Judge()
			e := trial.Effects[1]
			got := [8]float64{e.A, e.B, e.MinA, e.MinB, e.Ratio, e.Low, e.High, e.P}
			for i, want := range tt.want {
				if !near(got[i], want) && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
					t.Errorf("figures = %v, want %v", got, tt.want)
					break
				}
			}
			if e.Pairs != tt.pairs || e.Open != tt.open || e.Exact {
				t.Errorf("the effect has %d pairs, exact %v, open %q, want %d, %q", e.Pairs, e.Exact, e.Open, tt.pairs, tt.open)
			}
		})
	}
}

// The levels are those of what was planned, also when that was changed: a p of 0.031 is sure at the one look of six pairs.
func TestLevelsFollowThePlan(t *testing.T) {
	trial := &Trial{Primary: diagnosis.PeakRSS, Rounds: pairsOf(diagnosis.PeakRSS, 1.1, 1.11, 1.12, 1.13, 1.14, 1.15)}
	for _, tt := range []struct {
		most  int
		want  Verdict
		looks string
	}{{40, Inconclusive, "[]"}, {6, Regressed, "[6]"}, {12, Inconclusive, "[]"}, {6, Regressed, "[6]"}, {0, Inconclusive, "[]"}} {
		trial.Most = tt.most
		trial.Judge()
		if e, looks := trial.Effects[0], fmt.Sprint(trial.Looks); e.Verdict != tt.want || looks != tt.looks {
			t.Errorf("of %d pairs planned: %s, p %.4f, looks %s, want %s, %s", tt.most, e.Verdict, e.P, looks, tt.want, tt.looks)
		}
	}
	for most, want := range map[int]int{-1: 40, 0: 40, 1: 1, 999: 999, 1000: 1000, 5000: 1000} {
		if got := (&Trial{Most: most}).planned(); got != want {
			t.Errorf("planned() of %d = %d, want %d", most, got, want)
		}
	}
}

// A guard is broken when its interval and a test say so: of one guard at a level of 0.021, of two at one of 0.010 for 40
// pairs, and of one at 0.029 for 20.
func TestGuardOfPairs(t *testing.T) {
	over := []float64{1.3, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37, 1.38, 1.39}
	// All but the second least are over the limit: p is 0.0234.
	mostly := []float64{1.111, 1.078, 1.22, 1.23, 1.24, 1.25, 1.26, 1.27}
	under := func(list []float64) (out []float64) {
		for _, r := range list {
			out = append(out, 1/r)
		}
		return out
	}
	for _, tt := range []struct {
		name            string
		metric          diagnosis.Metric
		ratios          []float64
		guards, most    int
		broken, unclear bool
		need            int
	}{
		{"held", diagnosis.PeakRSS, []float64{1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07}, 1, 40, false, false, 0},
		{"fell", diagnosis.PeakRSS, []float64{0.9, 0.8, 0.99, 0.5}, 1, 40, false, false, 0},
		{"six pairs over", diagnosis.PeakRSS, over[:6], 1, 40, false, true, 7},
		{"seven pairs over", diagnosis.PeakRSS, over[:7], 1, 40, true, false, 0},
		{"seven pairs over, of two guards", diagnosis.PeakRSS, over[:7], 2, 40, false, true, 8},
		{"eight pairs over, of two guards", diagnosis.PeakRSS, over[:8], 2, 40, true, false, 0},
		{"eight, mostly over", diagnosis.PeakRSS, mostly, 1, 40, false, true, 9},
		{"eight, mostly over, of 20", diagnosis.PeakRSS, mostly, 1, 20, true, false, 0},
		{"five pairs over", diagnosis.PeakRSS, over[:5], 1, 40, false, true, 10},
		{"a rate under", diagnosis.OpsPerSec, under(over), 1, 40, true, false, 0},
		{"a rate over", diagnosis.OpsPerSec, over, 1, 40, false, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Primary: diagnosis.Elapsed, Margin: 0.02, Most: tt.most, Rounds: pairsOf(tt.metric, tt.ratios...)}
			trial.Guards = []Guard{{Metric: tt.metric, Limit: 0.1}, {Metric: diagnosis.P50, Limit: 0.1}}[:tt.guards]
			trial.Judge()
			if e := trial.Effects[1]; e.Broken != tt.broken || e.Unclear != tt.unclear || !e.Guarded || tt.need > 0 && e.Need != tt.need {
				t.Errorf("broken, unclear, need = %v, %v, %d (%.3f to %.3f), want %v, %v, %d",
					e.Broken, e.Unclear, e.Need, e.Low, e.High, tt.broken, tt.unclear, tt.need)
			}
		})
	}
}
