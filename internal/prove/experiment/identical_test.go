package experiment

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A program against itself ends in no difference, mostly, and what it says would have
// been seen is seen in about four of five trials.
func TestIdenticalArms(t *testing.T) {
	const trials = 60
	noise := func(m *machine) float64 { return 0.05 * m.NormFloat64() }
	none, sum := 0, 0.0
	for i := range trials {
		m := newMachine(uint64(i), noise)
		trial := verify(t, Plan{A: m.arm(1), B: m.arm(1), Identical: true, Pairs: 20, Seed: uint64(i)})
		if trial.Conclusion == NoDifference {
			none++
			sum += trial.detectable(trial.Effects[0])
			if !strings.HasPrefix(trial.Why, "of elapsed one of more than ") {
				t.Fatal(trial.Why)
			}
		} else if trial.Conclusion != Undecided || !strings.Contains(trial.Why, "are the same, and yet") {
			t.Errorf("%s: %s", trial.Conclusion, trial.Why)
		}
	}
	if none < trials*85/100 {
		t.Errorf("no difference in %d of %d trials", none, trials)
	}
	least := sum / float64(none)
	found := 0
	for i := range trials {
		m := newMachine(uint64(100+i), noise)
		trial := verify(t, Plan{A: m.arm(1), B: m.arm(1 + least), Pairs: 20, Seed: uint64(i)})
		if trial.Effects[0].Verdict == Regressed {
			found++
		}
	}
	t.Logf("%.1f%% is found in %d of %d trials", 100*least, found, trials)
	if found < trials*65/100 {
		t.Errorf("%.1f%% would have been seen, and is seen in %d of %d trials", 100*least, found, trials)
	}
}

// A counter tells more, and too few pairs nothing.
func TestIdenticalCounters(t *testing.T) {
	allocs := constant(map[diagnosis.Metric]float64{diagnosis.AllocsOp: 100})
	trial := verify(t, Plan{CountA: allocs, CountB: allocs, Primary: diagnosis.AllocsOp, Identical: true})
	if want := "of allocs/op one of more than 0.5% would have been seen; it did not change"; trial.Conclusion != NoDifference || trial.Why != want {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
	varies := &Trial{Primary: diagnosis.AllocsOp, Identical: true}
	varies.Rounds = counts(diagnosis.AllocsOp, []float64{999, 1001}, []float64{1000, 1000})
	varies.Judge() // by two in a thousand, of which four times are called different
	if want := "of allocs/op one of more than 0.8% would have been seen; it did not change"; varies.Why != want {
		t.Errorf("%s: %s, want %s", varies.Conclusion, varies.Why, want)
	}
	m := &machine{Rand: rand.New(rand.NewPCG(1, 1)), noise: func(m *machine) float64 { return 0.05 * m.NormFloat64() }}
	trial = verify(t, Plan{A: m.arm(1), B: m.arm(1), Pairs: 3, Identical: true})
	if trial.Conclusion != Undecided || !math.IsNaN(trial.detectable(trial.Effects[0])) {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
}

// What is said of arms that are the same, of effects put together by hand.
func TestConcludeIdentical(t *testing.T) {
	of := func(change func(*Effect)) Effect {
		e := Effect{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Ratio: 1.01, Low: 0.97, High: 1.05, P: 0.4, Pairs: 20}
		change(&e)
		return e
	}
	const chance = ", 20 pairs: chance does this in one trial of twenty; if it comes back, something beside the program tells them apart"
	for _, tt := range []struct {
		name   string
		effect Effect
		want   Conclusion
		why    string
	}{
		{"faster", of(func(e *Effect) { e.Verdict, e.Ratio, e.Low, e.High = Improved, 0.8, 0.7, 0.9 }), Undecided,
			"A and B are the same, and yet elapsed fell by 20.0%, 95% interval −30.0% to −10.0%" + chance},
		{"slower", of(func(e *Effect) { e.Verdict, e.Ratio, e.Low, e.High = Regressed, 1.2, 1.1, 1.3 }), Undecided,
			"A and B are the same, and yet elapsed rose by 20.0%, 95% interval +10.0% to +30.0%" + chance},
		// One pair varies by 9.0%; (2.47 + 0.84) × 9.0% ÷ √(20 × 3/π − 2.47²/2), by the level of the second look.
		{"none seen", of(func(e *Effect) {}), NoDifference, "of elapsed one of more than 7.8% would have been seen; it rose by 1.0%, 95% interval −3.0% to +5.0%, 20 pairs"},
		{"the same", of(func(e *Effect) { e.Verdict = Same }), NoDifference,
			"of elapsed one of more than 7.8% would have been seen; it rose by 1.0%, 95% interval −3.0% to +5.0%, 20 pairs"},
		{"few pairs", of(func(e *Effect) { e.Pairs, e.Low, e.High = 3, nan, nan }), Undecided, "3 pairs of at least 10 cannot decide about elapsed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Primary: diagnosis.Elapsed, Identical: true, Most: 40}
			trial.Judge()
			trial.Looks, trial.Effects = []int{10, 20}, []Effect{tt.effect}
			trial.conclude()
			if trial.Conclusion != tt.want || trial.Why != tt.why {
				t.Errorf("conclude: %s: %s\nwant %s: %s", trial.Conclusion, trial.Why, tt.want, tt.why)
			}
		})
	}
}
