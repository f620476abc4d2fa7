package experiment

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A workload is a program with everything that is measured of one, as it is on
// a shared machine: times that share the moment's noise, which lasts for several
// runs, now and then a neighbour that slows them and is seen by the gate, memory
// in steps, and counters of all kinds: nearly exact ones, small whole numbers
// that the scheduler has a hand in, and some that vary as much as times do.
type workload struct{ *machine }

func newWorkload(seed uint64) workload {
	return workload{newMachine(seed, func(m *machine) float64 {
		m.state = 0.6*m.state + 0.03*m.NormFloat64()
		return m.state
	})}
}

func (w workload) sample() Sample {
	w.runs++
	moment := w.noise(w.machine)
	others := 0.02 * w.ExpFloat64()
	if w.IntN(6) == 0 { // a neighbour
		others += 0.3 * w.Float64()
		moment += 0.4 * others
	}
	times := func(v, own float64) float64 { return v * math.Exp(moment+own*w.NormFloat64()) }
	elapsed := times(1, 0.02)
	return Sample{Ops: 1, Values: map[diagnosis.Metric]float64{
		diagnosis.Elapsed: elapsed, diagnosis.OpsPerSec: 1 / elapsed,
		diagnosis.CPUPerOp: times(2, 0.01), diagnosis.P50: times(0.01, 0.03),
		diagnosis.P99:      times(0.1, 0.2) / math.Sqrt(w.ExpFloat64()),
		diagnosis.PeakRSS:  float64(40+w.IntN(6)) * (4 << 20),
		diagnosis.Switches: times(900, 0.2), diagnosis.Faults: float64(5000 + w.IntN(40)),
	}, Conditions: Conditions{Others: others, Steal: -1, Pressure: -1, RunQueue: -1}}
}

func (w workload) count() Sample {
	return Sample{Ops: 1, Values: map[diagnosis.Metric]float64{
		diagnosis.AllocsOp:   1e6 * math.Exp(0.0025*w.NormFloat64()),
		diagnosis.BytesOp:    1e8 * math.Exp(0.003*w.NormFloat64()),
		diagnosis.Goroutines: float64(1000 + w.IntN(6)),
		diagnosis.GCPerOp:    float64(10 + w.IntN(2)),
		diagnosis.Syscalls:   float64(60 + w.IntN(3)),
		diagnosis.Futexes:    float64(w.IntN(3)),
		diagnosis.LiveHeap:   1e7 * math.Exp(0.05*w.NormFloat64()),
	}, Conditions: Conditions{Others: -1, Steal: -1, Pressure: -1, RunQueue: -1}}
}

func run(sample func() Sample) Runner {
	return func(context.Context) (Sample, error) { return sample(), nil }
}

// Of identical programs with everything measured and dropped that is measured
// and dropped of real ones, one trial in twenty claims a difference of the
// primary at most, one in twenty any of all others, and one in twenty a broken
// guard.
func TestNoFalseEffects(t *testing.T) {
	trials := manyTrials(t)
	first, others, broken, dropped := 0, 0, 0, 0
	falsely := map[diagnosis.Metric]int{}
	for i := range trials {
		w := newWorkload(uint64(i))
		trial := verify(t, Plan{
			A: run(w.sample), B: run(w.sample), CountA: run(w.count), CountB: run(w.count),
			Primary: diagnosis.CPUPerOp, Seed: uint64(i), draws: 100,
			Guards: []Guard{{Metric: diagnosis.P99, Limit: 0.05}, {Metric: diagnosis.PeakRSS, Limit: 0.10}, {Metric: diagnosis.AllocsOp, Limit: 0}},
		})
		dropped += trial.Dropped
		any, one := false, false
		for k, e := range trial.Effects {
			one = one || e.Broken
			if e.Verdict == Improved || e.Verdict == Regressed {
				falsely[e.Metric]++
				first += index(k == 0)
				any = any || k > 0
			}
		}
		others, broken = others+index(any), broken+index(one)
	}
	t.Logf("of %d: different %d, any other %d, %v; a guard broken %d; %d pairs dropped", trials, first, others, falsely, broken, dropped)
	if max(first, others, broken) > falseOf(trials) || dropped == 0 {
		t.Errorf("of %d: the primary %d, any other %d, a guard broken %d; %d pairs dropped", trials, first, others, broken, dropped)
	}
}

// Small whole numbers that chance has a part in are not exact because they
// happen to be equal; large ones, those without any event, and counts that the
// program alone decides are.
func TestEqualByAccident(t *testing.T) {
	for _, c := range []struct {
		metric diagnosis.Metric
		a, b   float64
		ops    float64
		want   Verdict
		exact  bool
	}{
		{diagnosis.GCPerOp, 10, 11, 0, Inconclusive, false},
		{diagnosis.Futexes, 0, 1, 0, Inconclusive, false},
		{diagnosis.Syscalls, 100, 101, 1, Inconclusive, false},
		{diagnosis.Syscalls, 1.00, 1.02, 100, Inconclusive, false}, // two calls more
		{diagnosis.Syscalls, 1.00, 1.02, 10_000, Regressed, true},
		{diagnosis.Syscalls, 1000, 900, 1, Improved, true},
		{diagnosis.Futexes, 0, 0, 0, Same, true},
		{diagnosis.Goroutines, 10, 9, 0, Improved, true},
		{diagnosis.AllocsOp, 3, 2, 0, Improved, true},
	} {
		at := func(v float64) Runner {
			return run(func() Sample { return Sample{Ops: c.ops, Values: map[diagnosis.Metric]float64{c.metric: v}} })
		}
		trial := &Trial{Primary: c.metric}
		for _, arm := range "ABBA" {
			s, _ := at(map[rune]float64{'A': c.a, 'B': c.b}[arm])(t.Context())
			trial.Rounds = append(trial.Rounds, Round{Arm: string(arm), Count: true, Sample: s})
		}
		trial.Judge()
		if e := trial.Effects[0]; e.Verdict != c.want || e.Exact != c.exact {
			t.Errorf("%s from %v to %v in %v operations: %s, exact %v, want %s, %v",
				c.metric, c.a, c.b, c.ops, e.Verdict, e.Exact, c.want, c.exact)
		}
	}
}

// counted returns a trial of counting runs alone.
func counted(guards []Guard, primary diagnosis.Metric, arms map[diagnosis.Metric][4]float64) *Trial {
	trial := &Trial{Primary: primary, Guards: guards}
	for i, arm := range []string{"A", "B", "B", "A"} {
		r := Round{Arm: arm, Count: true, Sample: Sample{Values: map[diagnosis.Metric]float64{}}}
		for m, v := range arms {
			r.Values[m] = v[i]
		}
		trial.Rounds = append(trial.Rounds, r)
	}
	trial.Judge()
	return trial
}

// What is enough for the primary is not for one counter of many.
func TestCountersAreReadTogether(t *testing.T) {
	varies := [4]float64{1000, 1005.5, 1006.5, 1001} // 5.5 times the spread of 0.1%
	trial := counted(nil, diagnosis.AllocsOp, map[diagnosis.Metric][4]float64{
		diagnosis.AllocsOp: varies, diagnosis.BytesOp: varies, diagnosis.Goroutines: {1000, 1006, 1006, 1000},
		diagnosis.Syscalls: {9000, 9000, 9000, 9000}, diagnosis.Faults: {9000, 9010, 9000, 9010},
	})
	for i, want := range map[diagnosis.Metric]Verdict{
		diagnosis.AllocsOp: Regressed, diagnosis.BytesOp: Inconclusive, diagnosis.Goroutines: Regressed,
		diagnosis.Syscalls: Same, diagnosis.Faults: Same,
	} {
		for _, e := range trial.Effects {
			if e.Metric == i && (e.Verdict != want || !e.Exact) {
				t.Errorf("%+v, want %s", e, want)
			}
		}
	}
}

// A guard without any allowance is not broken by what a counter varies by, but
// by the least difference of one that does not vary.
func TestGuardOfExactCounter(t *testing.T) {
	for _, c := range []struct {
		values [4]float64
		broken bool
	}{
		{[4]float64{10_000, 10_001, 10_012, 10_003}, false},
		{[4]float64{10_000, 10_001, 10_001, 10_000}, true},
		{[4]float64{10_000, 10_100, 10_101, 10_002}, true},
	} {
		trial := counted([]Guard{{Metric: diagnosis.AllocsOp, Limit: 0}}, diagnosis.BytesOp, map[diagnosis.Metric][4]float64{
			diagnosis.BytesOp: {9, 8, 8, 9}, diagnosis.AllocsOp: c.values,
		})
		if e := trial.Effects[1]; e.Broken != c.broken || e.Unclear || !e.Guarded {
			t.Errorf("%v: broken %v, unclear %v, guarded %v, want %v, false, true",
				c.values, e.Broken, e.Unclear, e.Guarded, c.broken)
		}
	}
}

// What a guard's least comes to is a share of what A has.
func TestLeastIsOfA(t *testing.T) {
	trial := counted([]Guard{{Metric: diagnosis.AllocsOp, Limit: 0.1, Least: 2}}, diagnosis.BytesOp, map[diagnosis.Metric][4]float64{
		diagnosis.BytesOp: {9, 8, 8, 9}, diagnosis.AllocsOp: {10, 40, 40, 10},
	})
	if e := trial.Effects[1]; e.Metric != diagnosis.AllocsOp || !near(e.Guard, 0.2) {
		t.Errorf("the limit of %s is %v, want 0.2", e.Metric, e.Guard)
	}
}

// A look sees what there was then. What a zero stands for depends on the least
// value, and a smaller one in a later pair must not turn an old look round.
func TestLookIsNotRevised(t *testing.T) {
	trial := &Trial{Primary: diagnosis.Futexes, Most: 40, draws: 300}
	pair := func(n int, a, b float64) {
		for arm, v := range map[string]float64{"A": a, "B": b} {
			trial.Rounds = append(trial.Rounds, Round{Pair: n, Arm: arm, Sample: Sample{Values: map[diagnosis.Metric]float64{diagnosis.Futexes: v}}})
		}
	}
	for n := 1; n <= 10; n++ { // in favour of B, by less than a zero is
		pair(n, 100+float64(n), 100)
	}
	pair(4, 0, 100)
	trial.Judge()
	then := trial.Effects[0].Verdict
	j := judge{Trial: trial, pairs: trial.pairs()}
	early := j.series(j.pairs[:10], diagnosis.Futexes).d
	pair(11, 1e-6, 1e-6)
	trial.Judge()
	j = judge{Trial: trial, pairs: trial.pairs()}
	if late := j.series(j.pairs[:10], diagnosis.Futexes).d; !slices.Equal(early, late) {
		t.Errorf("%s: the first look had %v, and now %v", then, early, late)
	}
}
