package experiment

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// What cannot be a plan is told why; what is at the edge can be one.
func TestPlanBounds(t *testing.T) {
	run := constant(nil)
	of := func(change func(*Plan)) Plan {
		p := Plan{A: run, B: run}
		change(&p)
		return p
	}
	const (
		arms   = "an experiment needs both arms, or none, of each kind of run"
		pairs  = "the number of pairs must be 1 to 1000"
		margin = "margin and noise floor must be numbers from 0 on"
		gate   = "what makes a machine busy must be shares from 0 on"
		guard  = "the limits of the guard p99 must be numbers from 0 on"
	)
	guarded := func(limit, least float64) Plan {
		return of(func(p *Plan) {
			p.Guards = []Guard{{Metric: diagnosis.P50}, {Metric: diagnosis.P99, Limit: limit, Least: least}}
		})
	}
	for _, tt := range []struct {
		name string
		plan Plan
		want string // empty for none
	}{
		{"both arms", of(func(*Plan) {}), ""},
		{"counting alone", Plan{CountA: run, CountB: run}, ""},
		{"all", Plan{A: run, B: run, CountA: run, CountB: run}, ""},
		{"nothing", Plan{}, "an experiment needs something to run"},
		{"A alone", Plan{A: run}, arms},
		{"B alone", Plan{B: run}, arms},
		{"A is counted alone", Plan{A: run, B: run, CountA: run}, arms},
		{"B is counted alone", Plan{A: run, B: run, CountB: run}, arms},
		{"A, and B counted", Plan{A: run, CountB: run}, arms},
		{"as many pairs as can be", of(func(p *Plan) { p.Pairs = 1000 }), ""},
		{"more pairs", of(func(p *Plan) { p.Pairs = 1001 }), pairs},
		{"less than none", of(func(p *Plan) { p.Pairs = -1 }), pairs},
		{"any margin", of(func(p *Plan) { p.Margin, p.Floor = math.MaxFloat64, math.MaxFloat64 }), ""},
		{"a margin below none", of(func(p *Plan) { p.Margin = -0.1 }), margin},
		{"a margin without end", of(func(p *Plan) { p.Margin = math.Inf(1) }), margin},
		{"noise that is no number", of(func(p *Plan) { p.Floor = nan }), margin},
		{"a gate", of(func(p *Plan) { p.Busy = Gate{0.5, 0.5} }), ""},
		{"a gate for others below none", of(func(p *Plan) { p.Busy = Gate{-1, 0.5} }), gate},
		{"a gate for the hypervisor that is no number", of(func(p *Plan) { p.Busy = Gate{0.5, nan} }), gate},
		{"guards", guarded(0.1, 5), ""},
		{"a limit below none", guarded(-0.1, 5), guard},
		{"a least below none", guarded(0.1, -5), guard},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.plan.check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("check() = %q, want %q", got, tt.want)
			}
		})
	}
}

// What was declared stays with the trial; what was not is as it mostly is.
func TestPlanIsDeclared(t *testing.T) {
	p := &Prediction{Best: 0.5}
	for _, tt := range []struct {
		name string
		plan Plan
		want Trial
	}{
		{"nothing", Plan{}, Trial{Margin: 0.02, Most: 40, Gate: Gate{Others: 0.1, Steal: 0.03}}},
		{"all", Plan{Primary: "n", Margin: 0.1, Floor: 0.3, Pairs: 7, Busy: Gate{0.4, 0.5}, Seed: 9,
			Identical: true, Predicted: p, draws: 11},
			Trial{Primary: "n", Margin: 0.1, Floor: 0.3, Most: 7, Gate: Gate{0.4, 0.5}, Seed: 9, Identical: true, Predicted: p, draws: 11}},
		{"one share of the gate", Plan{Busy: Gate{Steal: 0.5}}, Trial{Margin: 0.02, Most: 40, Gate: Gate{Steal: 0.5}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.plan.trial()
			for _, is := range []struct {
				what      string
				got, want any
			}{
				{"kind", got.Kind, "gowhy trial"}, {"schema", got.Schema, 1}, {"primary", got.Primary, tt.want.Primary},
				{"margin", got.Margin, tt.want.Margin}, {"floor", got.Floor, tt.want.Floor}, {"most", got.Most, tt.want.Most},
				{"gate", got.Gate, tt.want.Gate}, {"seed", got.Seed, tt.want.Seed}, {"identical", got.Identical, tt.want.Identical},
				{"predicted", got.Predicted, tt.want.Predicted}, {"draws", got.draws, tt.want.draws},
			} {
				if is.got != is.want {
					t.Errorf("%s of the trial = %v, want %v", is.what, is.got, is.want)
				}
			}
		})
	}
}

// What drops a round says how much was taken, beyond the gate alone.
func TestGate(t *testing.T) {
	for _, tt := range []struct {
		now  Conditions
		want string // empty where the round counts
	}{
		{Conditions{Others: 0.1, Steal: 0.03, Pressure: 1, RunQueue: 1}, ""},
		{Conditions{Others: -1, Steal: -1, Pressure: -1, RunQueue: -1}, ""},
		{Conditions{Others: 0.11, Steal: 0.02}, "other processes used 11.0% of the machine"},
		{Conditions{Others: 0.02, Steal: 0.05, Pressure: 0.9}, "the hypervisor took 5.0% of the machine"},
		{Conditions{Others: 0.2, Steal: 0.05}, "other processes used 20.0% of the machine"},
	} {
		if got := DefaultGate.busy(tt.now); got != tt.want {
			t.Errorf("busy(%v) = %q, want %q", tt.now, got, tt.want)
		}
	}
}

func TestRunErrorInWords(t *testing.T) {
	cause := errors.New("exit status 1")
	for want, e := range map[string]*RunError{
		"arm A failed (warming up): exit status 1": {Arm: "A", Err: cause},
		"arm B failed (counting): exit status 1":   {Arm: "B", Count: true, Err: cause},
		"arm B failed (pair 3): exit status 1":     {Arm: "B", Pair: 3, Count: true, Err: cause},
	} {
		if got := e.Error(); got != want || !errors.Is(e, cause) {
			t.Errorf("Error() = %q, want %q", got, want)
		}
	}
}

// A machine that is busy as often as not, from as many pairs on as the first look needs, is taken as it is: what
// it dropped counts again where nobody has looked yet, up to what was planned.
func TestBusyIsGivenUp(t *testing.T) {
	under := func(most, pairs, dropped int) *verifier {
		v := &verifier{trial: &Trial{Most: most}, pairs: pairs, dropped: dropped}
		add := func(pair int, why string) {
			for _, arm := range []string{"A", "B"} {
				v.trial.Rounds = append(v.trial.Rounds, Round{Pair: pair, Arm: arm, Dropped: why, Sample: Sample{Values: values{}}})
			}
		}
		add(0, warmUp)
		for i := range pairs + dropped {
			add(i+1, map[bool]string{true: "busy"}[i >= pairs])
		}
		add(pairs+dropped+1, unfinished)
		return v
	}
	for _, tt := range []struct {
		name                 string
		most, pairs, dropped int
		give                 func(*verifier)
		busy                 bool
		counted, left        int
	}{
		{"fewer than the first look needs", 40, 0, 9, (*verifier).allBusy, false, 0, 9},
		{"as many", 40, 0, 10, (*verifier).allBusy, true, 10, 0},
		{"fewer than counted", 40, 11, 10, (*verifier).allBusy, false, 11, 10},
		{"as many as counted, after a look", 40, 11, 11, (*verifier).allBusy, true, 11, 11},
		{"at the first look", 40, 10, 10, (*verifier).allBusy, true, 10, 10},
		{"before the first look", 40, 9, 10, (*verifier).allBusy, true, 19, 0},
		{"more than planned", 12, 5, 12, (*verifier).allBusy, true, 12, 5},
		{"interrupted, with none counted", 40, 0, 3, (*verifier).takeAll, true, 3, 0},
		{"interrupted, with one counted", 40, 1, 3, (*verifier).takeAll, false, 1, 3},
		{"interrupted, with none at all", 40, 0, 0, (*verifier).takeAll, false, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := under(tt.most, tt.pairs, tt.dropped)
			tt.give(v)
			if v.trial.Busy != tt.busy || v.pairs != tt.counted || v.dropped != tt.left {
				t.Errorf("given up: %v, %d counted, %d dropped, want %v, %d, %d",
					v.trial.Busy, v.pairs, v.dropped, tt.busy, tt.counted, tt.left)
			}
			if got := len(v.trial.pairs()); got != tt.counted {
				t.Errorf("%d pairs of rounds count, want %d", got, tt.counted)
			}
			rounds := v.trial.Rounds
			if first, last := rounds[0].Dropped, rounds[len(rounds)-1].Dropped; first != warmUp || last != unfinished {
				t.Errorf("the first round and the last are dropped for %q and %q, want %q and %q", first, last, warmUp, unfinished)
			}
		})
	}
}

// More pairs are run for a guard while it can be hoped that those of the plan decide it.
func TestGuardCouldBeDecided(t *testing.T) {
	run := constant(nil)
	timed, count := counts(diagnosis.P99, []float64{1}, []float64{1}), counts(diagnosis.P99, []float64{1}, []float64{1})
	for i := range timed {
		timed[i].Count = false
	}
	// One pair varies by a fifth: 16.9 pairs decide about a tenth.
	half := 1.96 * 0.2 / 4
	e := Effect{Metric: diagnosis.P99, Guarded: true, Guard: 0.1, Pairs: 16, Ratio: 1, Low: math.Exp(-half), High: math.Exp(half)}
	none := Effect{Metric: diagnosis.P99, Need: 40}
	for _, tt := range []struct {
		name   string
		a      Runner
		rounds []Round
		pairs  int
		effect Effect
		want   bool
	}{
		{"nothing has run", run, nil, 0, none, true},
		{"counted so far", run, count, 0, none, true},
		{"counted so far, and not this", run, count, 0, Effect{Metric: diagnosis.P50}, true},
		{"counted, and no more will run", nil, count, 0, none, false},
		{"warmed up", run, timed, 0, none, true},
		{"warmed up, and it needs more than planned", run, timed, 0, Effect{Metric: diagnosis.P99, Need: 41}, false},
		{"warmed up, and nobody measures it", run, timed, 0, Effect{Metric: diagnosis.P50, Need: 10}, false},
		{"two of three pairs measured it", run, timed, 24, e, true},
		{"two of five pairs measured it", run, timed, 40, e, false},
		{"after counting pairs", run, count, 24, e, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &verifier{plan: Plan{A: tt.a}, trial: &Trial{Most: 40, Rounds: tt.rounds}, pairs: tt.pairs, dropped: 5}
			if got := v.couldDecide(tt.effect); got != tt.want {
				t.Errorf("couldDecide = %v, want %v", got, tt.want)
			}
		})
	}
}

// A counter that two pairs show to be exact need not wait for a look, without guards.
func TestExactSoFar(t *testing.T) {
	same := func(m diagnosis.Metric) []Round { return pairsOf(m, 2, 2, 2) }
	for _, tt := range []struct {
		name   string
		metric diagnosis.Metric
		rounds []Round
		pairs  int
		guards []Guard
		want   bool
	}{
		{"three pairs", diagnosis.AllocsOp, same(diagnosis.AllocsOp), 3, nil, true},
		{"two pairs", diagnosis.AllocsOp, same(diagnosis.AllocsOp)[:4], 2, nil, true},
		{"one pair", diagnosis.AllocsOp, same(diagnosis.AllocsOp), 1, nil, false},
		{"with a guard", diagnosis.AllocsOp, same(diagnosis.AllocsOp), 3, []Guard{{Metric: diagnosis.P99}}, false},
		{"a time", diagnosis.P99, same(diagnosis.P99), 3, nil, false},
		{"a counter that varies", diagnosis.AllocsOp, pairsOf(diagnosis.AllocsOp, 1, 2, 3), 3, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &verifier{plan: Plan{Guards: tt.guards}, trial: &Trial{Primary: tt.metric, Rounds: tt.rounds}, pairs: tt.pairs}
			if got := v.exactSoFar(); got != tt.want {
				t.Errorf("exactSoFar() = %v, want %v", got, tt.want)
			}
		})
	}
}

// Pairs are counted, too, where only counting measures what matters, and not to the same value each time.
func TestMustCount(t *testing.T) {
	varies := counts(diagnosis.AllocsOp, []float64{100, 150}, []float64{100, 150})
	timed := counts(diagnosis.AllocsOp, []float64{100}, nil)
	timed[0].Count = false
	for _, tt := range []struct {
		name   string
		rounds []Round
		want   bool
	}{
		{"varies", varies, true},
		{"the same each time", counts(diagnosis.AllocsOp, []float64{100, 100}, []float64{150, 150}), false},
		{"timed runs measure it, too", append(timed, varies...), false},
		{"one arm has it", counts(diagnosis.AllocsOp, []float64{100, 150}, nil), false},
		{"nobody has it", counts(diagnosis.BytesOp, []float64{100, 150}, []float64{100, 150}), false},
		{"timed runs measure something else", append(pairsOf(diagnosis.P99, 1), varies...), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &verifier{trial: &Trial{Rounds: tt.rounds}}
			if got := v.mustCount(diagnosis.AllocsOp); got != tt.want {
				t.Errorf("mustCount() = %v, want %v", got, tt.want)
			}
		})
	}
}

// An interrupt is what Verify returns, whatever the run that it ended says; a failure without one is itself.
func TestInterruptedRun(t *testing.T) {
	killed := errors.New("signal: killed")
	for name, interrupted := range map[string]bool{"interrupted": true, "failed": false} {
		ctx, cancel := context.WithCancel(t.Context())
		run := func(context.Context) (Sample, error) {
			if interrupted {
				cancel()
			}
			return Sample{}, killed
		}
		_, err := Verify(ctx, Plan{A: run, B: run}, nil)
		cancel()
		if errors.Is(err, context.Canceled) != interrupted || errors.Is(err, killed) == interrupted {
			t.Errorf("%s: Verify returns %v", name, err)
		}
	}
}

// An interrupt counts pairs that a busy machine had dropped where there are no others.
func TestInterruptedWhileBusy(t *testing.T) {
	for _, tt := range []struct {
		name    string
		quiet   int // runs, of which two warm up
		pairs   int
		dropped int
		busy    bool
	}{{"busy from the start", 0, 3, 0, true}, {"busy after one pair", 4, 1, 2, false}} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			runs := 0
			run := func(context.Context) (Sample, error) {
				if runs++; runs == 2+2*3+1 {
					cancel()
				}
				s := Sample{Values: values{diagnosis.PeakRSS: 1}}
				if runs > tt.quiet {
					s.Conditions.Others = 0.5
				}
				return s, ctx.Err()
			}
			trial, err := Verify(ctx, Plan{A: run, B: run, Primary: diagnosis.PeakRSS}, nil)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("Verify returns %v", err)
			}
			// What was not finished is one pair more, with no round that ended.
			if trial.Pairs != tt.pairs || trial.Dropped != tt.dropped || trial.Busy != tt.busy {
				t.Errorf("%d pairs, %d dropped, busy %v, want %d, %d, %v",
					trial.Pairs, trial.Dropped, trial.Busy, tt.pairs, tt.dropped, tt.busy)
			}
		})
	}
}

// Pairs are counted, too, for a guard that only counting measures, and that varies.
func TestPairsAreCountedForGuards(t *testing.T) {
	for _, tt := range []struct {
		name   string
		guards []Guard
		want   bool
	}{
		{"no guard", nil, false},
		{"a guard of time", []Guard{{Metric: diagnosis.PeakRSS, Limit: 0.1}}, false},
		{"a guard that counting measures", []Guard{{Metric: diagnosis.Faults, Limit: 0.1}}, true},
		{"that, before one of time", []Guard{{Metric: diagnosis.Faults, Limit: 0.1}, {Metric: diagnosis.PeakRSS, Limit: 0.1}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			counted := 0.0
			count := func(context.Context) (Sample, error) {
				counted++
				return Sample{Values: values{diagnosis.Faults: 1000 + 100*counted}}, nil
			}
			timed := constant(values{diagnosis.Elapsed: 1, diagnosis.PeakRSS: 1})
			p := Plan{A: timed, B: timed, CountA: count, CountB: count, Primary: diagnosis.Elapsed, Guards: tt.guards, Pairs: 6}
			trial := verify(t, p)
			inPairs := 0
			for _, r := range trial.Rounds {
				inPairs += index(r.Count && r.Pair > 0)
			}
			if (inPairs > 0) != tt.want || tt.want && inPairs != 2*trial.Pairs {
				t.Errorf("%d rounds of %d pairs were counted, want it %v", inPairs, trial.Pairs, tt.want)
			}
		})
	}
}
