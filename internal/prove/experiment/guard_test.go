package experiment

import (
	"math"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A guard's limit is a share, or what its least comes to where that is more.
func TestGuardLimit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		guard Guard
		a     float64
		want  float64
	}{
		{"a share", Guard{Metric: diagnosis.PeakRSS, Limit: 0.1}, 50, 0.1},
		{"the least is more", Guard{Metric: diagnosis.PeakRSS, Limit: 0.1, Least: 20}, 50, 0.4},
		{"the least is less", Guard{Metric: diagnosis.PeakRSS, Limit: 0.1, Least: 2}, 50, 0.1},
		{"of nothing", Guard{Metric: diagnosis.PeakRSS, Limit: 0.1, Least: 2}, 0, 0.1},
		{"of what nobody knows", Guard{Metric: diagnosis.PeakRSS, Limit: 0.1, Least: 2}, nan, 0.1},
		{"of a rate", Guard{Metric: diagnosis.OpsPerSec, Limit: 0.1, Least: 20}, 50, 0.1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.guard.limitAt(tt.a); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("limitAt(%v) = %v, want %v", tt.a, got, tt.want)
			}
		})
	}
}

// What an effect says of its guard: that it surely keeps to it, that it fell, that it alarms.
func TestGuardOfEffect(t *testing.T) {
	of := func(change func(*Effect)) Effect {
		e := Effect{
			Metric: diagnosis.P99, Guarded: true, Guard: 0.1, Pairs: 20, A: 100, B: 102,
			Ratio: 1.02, Low: 0.98, High: 1.06, P: 0.1,
		}
		change(&e)
		return e
	}
	for _, tt := range []struct {
		name               string
		effect             Effect
		kept, fell, alarms bool
	}{
		{"within", of(func(e *Effect) {}), true, false, false},
		{"to its limit", of(func(e *Effect) { e.High = 1 + e.Guard }), true, false, false},
		{"beyond its limit", of(func(e *Effect) { e.High = 1.2 }), false, false, false},
		{"no guard", of(func(e *Effect) { e.Guarded = false }), false, false, false},
		{"broken", of(func(e *Effect) { e.Broken = true }), false, false, false},
		{"open", of(func(e *Effect) { e.Unclear = true }), false, false, false},
		{"counted", of(func(e *Effect) { e.Exact, e.High = true, 1.2 }), true, false, false},
		{"better", of(func(e *Effect) { e.Ratio, e.Low, e.High, e.B = 0.9, 0.8, 1.05, 90 }), true, true, false},
		{"better by the pairs alone", of(func(e *Effect) { e.Ratio, e.Low, e.High, e.B = 0.9, 0.8, 1.05, 110 }), true, false, false},
		{"better by the medians alone", of(func(e *Effect) { e.B = 90 }), true, false, false},
		{"just the same", of(func(e *Effect) { e.Ratio, e.B = 1, 100 }), true, true, false},
		{"better, in no pair", of(func(e *Effect) { e.Ratio, e.B, e.Pairs = 0.9, 90, 0 }), true, false, false},
		{"a greater rate", of(func(e *Effect) { e.Metric, e.Ratio, e.Low, e.High, e.B = diagnosis.OpsPerSec, 1.1, 1.05, 1.15, 110 }), true, true, false},
		{"a smaller rate", of(func(e *Effect) { e.Metric, e.Ratio, e.Low, e.High, e.B = diagnosis.OpsPerSec, 0.8, 0.75, 0.85, 80 }), false, false, false},
		{"surely worse, and over the limit", of(func(e *Effect) { e.Ratio, e.Low, e.High, e.Unclear = 1.2, 1.01, 1.4, true }), false, false, true},
		{"worse, and not over the limit", of(func(e *Effect) { e.Ratio, e.Low, e.High, e.Unclear = 1.1, 1.01, 1.4, true }), false, false, false},
		{"perhaps no worse", of(func(e *Effect) { e.Ratio, e.Low, e.High, e.Unclear = 1.2, 1, 1.4, true }), false, false, false},
		{"decided", of(func(e *Effect) { e.Ratio, e.Low, e.High = 1.2, 1.01, 1.4 }), false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kept, fell, alarms := tt.effect.Kept(), tt.effect.fell(), tt.effect.alarms()
			if kept != tt.kept || fell != tt.fell || alarms != tt.alarms {
				t.Errorf("kept, fell, alarms = %v, %v, %v, want %v, %v, %v", kept, fell, alarms, tt.kept, tt.fell, tt.alarms)
			}
		})
	}
}

// How far a metric became worse is the inverse where more is better.
func TestWorse(t *testing.T) {
	for m, want := range map[diagnosis.Metric][3]float64{diagnosis.P99: {2, 1.6, 2.5}, diagnosis.OpsPerSec: {0.5, 0.4, 0.625}} {
		ratio, low, high := Effect{Metric: m, Ratio: 2, Low: 1.6, High: 2.5}.Worse()
		if got := [3]float64{ratio, low, high}; got != want {
			t.Errorf("Worse of %s = %v, want %v", m, got, want)
		}
	}
}

// From noise is known how many pairs decide: the figures are those of the normal approximation.
func TestPairsNeeded(t *testing.T) {
	// An interval of ±9.8% by 16 pairs: one pair varies by a fifth.
	noisy := func(ratio float64, change func(*Effect)) Effect {
		half := 1.96 * 0.2 / 4
		e := Effect{Metric: diagnosis.Elapsed, Guarded: true, Guard: 0.1, Pairs: 16, Ratio: ratio, Low: ratio * math.Exp(-half), High: ratio * math.Exp(half)}
		change(&e)
		return e
	}
	as := func(*Effect) {}
	few := func(e *Effect) { e.Pairs, e.Need = leastPairs-1, 3 }
	j := judge{Trial: &Trial{Primary: diagnosis.Elapsed, Margin: 0.02, Most: 40}}
	for _, tt := range []struct {
		name   string
		effect Effect
		got    func(Effect) int
		want   int
	}{
		// (1.96 × 0.2 ÷ ln 1.1)² = 16.9
		{"of a guard without an effect", noisy(1, as), func(e Effect) int { return e.hopefully(16) }, 17},
		{"of a guard at its limit", noisy(1.1, as), func(e Effect) int { return e.hopefully(16) }, 17},
		// (1.96 × 0.2 ÷ ln(1.3 ÷ 1.1))² = 5.5
		{"of a guard far beyond", noisy(1.3, as), func(e Effect) int { return e.hopefully(16) }, 6},
		{"of a guard that half of the pairs measured", noisy(1, as), func(e Effect) int { return e.hopefully(32) }, 34},
		{"of a guard that few measured", noisy(1, few), func(e Effect) int { return e.hopefully(50) }, 60},
		{"of a guard that none measured", noisy(1, func(e *Effect) { e.Pairs, e.Need = 0, 9 }), func(e Effect) int { return e.hopefully(0) }, 9},
		{"of a guard without room", noisy(1, func(e *Effect) { e.Guard = 0 }),
			func(e Effect) int { return e.hopefully(160) }, math.MaxInt32},
		{"a broken guard", noisy(1.3, as), func(e Effect) int { return j.needOfGuard(e, 1.3) }, 17},
		{"a guard of few pairs", noisy(1.3, few), func(e Effect) int { return j.needOfGuard(e, 1.3) }, 10},
		{"a guard near its limit", noisy(1.05, as), func(e Effect) int { return j.needOfGuard(e, 1.05) }, 72},
		// ((1.96 + 0.84) × 0.2 ÷ ln 1.05)² = 131.9, half of 1.96² more, over 3/π for the rank test.
		{"a difference of a twentieth", noisy(1.05, as), j.need, 141},
		{"a difference of a fifth, which has more pairs than that takes", noisy(1.2, as), j.need, 17},
		// Within 2% is what (1.96 × 0.2 ÷ ln 1.02)² = 391.8 pairs show.
		{"no difference", noisy(1, as), j.need, 392},
		{"few pairs", noisy(1.2, few), j.need, 0},
		{"no noise", noisy(1.2, func(e *Effect) { e.Low, e.High = e.Ratio, e.Ratio }), j.need, 0},
		{"no interval", noisy(1.2, func(e *Effect) { e.Low, e.High = nan, nan }), j.need, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.got(tt.effect); got != tt.want {
				t.Errorf("%d pairs, want %d", got, tt.want)
			}
		})
	}
	if sd := noisy(1, as).pairSD(); math.Abs(sd-0.2) > 1e-4 {
		t.Errorf("pairSD() = %v, want 0.2", sd)
	}
	if n := toWithin(0.2, 0); n != 1<<30 {
		t.Errorf("toWithin(0.2, 0) = %d, want %d, a bound", n, 1<<30)
	}
}

// Why a metric is open although its numbers point one way.
func TestReasonForOpen(t *testing.T) {
	trial := &Trial{Primary: diagnosis.Elapsed, Floor: 0.1, Most: 40}
	trial.Judge() // which has the levels
	j := judge{Trial: trial, pairs: make([][2]values, 20)}
	of := func(m diagnosis.Metric, pairs int, ratio, low, high float64) Effect {
		return Effect{Metric: m, Pairs: pairs, A: 1, Ratio: ratio, Low: low, High: high}
	}
	for _, tt := range []struct {
		name   string
		effect Effect
		tested int
		want   string
	}{
		{"a counter", Effect{Exact: true}, 1, "varies too much"},
		{"nothing known", Effect{A: nan}, 1, ""},
		{"nothing known of what a guard needs pairs for", Effect{A: nan, Need: 9}, 1, ""},
		{"counted alone", Effect{A: 1}, 1, "only counted twice"},
		{"one pair", of(diagnosis.Elapsed, 1, 2, nan, nan), 1, "only 1 pair"},
		{"five pairs", of(diagnosis.Elapsed, 5, 2, nan, nan), 1, "only 5 pairs"},
		{"no change is possible", of(diagnosis.Elapsed, 10, 1.1, 1, 1.2), 1, ""},
		{"no change is possible, from below", of(diagnosis.Elapsed, 10, 0.9, 0.8, 1), 1, ""},
		{"the machine's noise", of(diagnosis.Elapsed, 10, 1.09, 1.05, 1.15), 1, "machine's noise is 10.0%"},
		{"the machine's noise, in more pairs", of(diagnosis.Elapsed, 40, 1.04, 1.02, 1.1), 1, "machine's noise is 5.0%"},
		{"memory has none", of(diagnosis.PeakRSS, 10, 1.1, 1.05, 1.15), 7, "one of 7 metrics"},
		{"one alone beside the primary", of(diagnosis.PeakRSS, 10, 1.1, 1.05, 1.15), 1, "p is above 0.014"},
		{"the primary at its second look", of(diagnosis.Elapsed, 20, 1.2, 1.05, 1.3), 1, "p is above 0.013"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := j.reason(&tt.effect, tt.tested); got != tt.want {
				t.Errorf("reason(%+v, %d) = %q, want %q", tt.effect, tt.tested, got, tt.want)
			}
		})
	}
	// Of two looks the levels are others than of three.
	two := &Trial{Primary: diagnosis.Elapsed, Most: 20}
	two.Judge()
	of20 := judge{Trial: two, pairs: make([][2]values, 20)}
	for m, want := range map[diagnosis.Metric]string{diagnosis.PeakRSS: "p is above 0.02", diagnosis.Elapsed: "p is above 0.04"} {
		e := of(m, 20, 1.2, 1.05, 1.3)
		if got := of20.reason(&e, 1); got != want {
			t.Errorf("reason for %s of 20 pairs = %q, want %q", m, got, want)
		}
	}
	// The level is that of the look it had last; one beyond all looks has the last one's.
	levels := trial.boundaries(looks(40), falsely)
	for n, want := range map[int]float64{0: levels[0], 10: levels[0], 11: levels[1], 20: levels[1], 40: levels[2], 60: levels[2]} {
		j.pairs = make([][2]values, n)
		if got := j.levelNow(); got != want {
			t.Errorf("levelNow() after %d pairs = %v, want %v", n, got, want)
		}
	}
}
