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
	m := &machine{Rand: rand.New(rand.NewPCG(1, 1)), noise: func(m *machine) float64 { return 0.05 * m.NormFloat64() }}
	trial = verify(t, Plan{A: m.arm(1), B: m.arm(1), Pairs: 3, Identical: true})
	if trial.Conclusion != Undecided || !math.IsNaN(trial.detectable(trial.Effects[0])) {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
}
