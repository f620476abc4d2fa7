package experiment

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A machine runs synthetic programs: each run takes as long as the program needs
// times the noise of the moment, which goes on from run to run whatever runs.
type machine struct {
	*rand.Rand
	runs  int
	state float64
	noise func(*machine) float64 // logarithm of the factor
}

func newMachine(seed uint64, noise func(*machine) float64) *machine {
	return &machine{Rand: rand.New(rand.NewPCG(seed, 77)), noise: noise}
}

// noises are what machines do, with a standard deviation of about a tenth.
var noises = map[string]func(*machine) float64{
	"independent": func(m *machine) float64 { return 0.1 * m.NormFloat64() },
	"drift": func(m *machine) float64 {
		return 0.05*m.NormFloat64() + 0.01*float64(m.runs)
	},
	"bursts": func(m *machine) float64 {
		// Correlated by one half from run to run: what ties the signs of ABBA.
		m.state = 0.5*m.state + 0.1*m.NormFloat64()
		return m.state
	},
	"heavy tails": func(m *machine) float64 {
		return 0.05 * m.NormFloat64() / math.Sqrt(m.ExpFloat64())
	},
	"rhythm of four": func(m *machine) float64 {
		// The worst for blocks of ABBA: it fits them exactly.
		return []float64{0.3, 0, 0, 0.3}[m.runs%4] + 0.02*m.NormFloat64()
	},
	"steps": func(m *machine) float64 {
		if m.IntN(20) == 0 {
			m.state = 0.3 * m.NormFloat64()
		}
		return m.state + 0.03*m.NormFloat64()
	},
}

// arm returns a program that needs so many seconds.
func (m *machine) arm(seconds float64) Runner {
	return func(context.Context) (Sample, error) {
		m.runs++
		factor := math.Exp(m.noise(m))
		return Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: seconds * factor}}, nil
	}
}

// constant returns a program that measures the same each time.
func constant(v map[diagnosis.Metric]float64) Runner {
	return func(context.Context) (Sample, error) { return Sample{Values: v}, nil }
}

func verify(t *testing.T, p Plan) *Trial {
	t.Helper()
	p.draws = cmp.Or(p.draws, 300)
	trial, err := Verify(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

// manyTrials returns how many identical programs are tried: the fewer, the less is noticed.
func manyTrials(t *testing.T) int {
	if attempt.All(t) {
		return 200
	}
	return 60
}

// falseOf returns how many of them may be called different: one in twenty, and three standard
// deviations more.
func falseOf(trials int) int {
	n := float64(trials)
	return int(0.05*n + 3*math.Sqrt(0.05*0.95*n))
}

// Identical arms are called different in one of twenty trials at most, whatever
// the machine does.
func TestNoFalseVerdicts(t *testing.T) {
	trials := manyTrials(t)
	for name, noise := range noises {
		found, same := 0, 0
		for i := range trials {
			m := newMachine(uint64(i), noise)
			trial := verify(t, Plan{A: m.arm(1), B: m.arm(1), Seed: uint64(i), draws: 100})
			switch trial.Effects[0].Verdict {
			case Improved, Regressed:
				found++
			case Same:
				same++
			}
		}
		t.Logf("%s: different %.1f%%, same %.1f%%", name, 100*float64(found)/float64(trials), 100*float64(same)/float64(trials))
		if found > falseOf(trials) {
			t.Errorf("%s: %d of %d identical arms were called different", name, found, trials)
		}
	}
}

// What is planted is found, the more often the greater it is.
func TestPower(t *testing.T) {
	const trials = 40
	least := map[float64]float64{0.05: 0.2, 0.10: 0.75, 0.20: 0.97, 0.30: 1}
	for effect, want := range least {
		found, wrong, pairs := 0, 0, 0
		for i := range trials {
			m := newMachine(1000+uint64(i), noises["independent"])
			trial := verify(t, Plan{A: m.arm(1), B: m.arm(1 - effect), Seed: uint64(i), draws: 200})
			pairs += trial.Pairs
			switch {
			case trial.Conclusion == Confirmed:
				found++
			case trial.Effects[0].Verdict == Regressed:
				wrong++
			}
		}
		t.Logf("%.0f%%: found %d of %d, in %.1f pairs on average", 100*effect, found, trials, float64(pairs)/trials)
		if float64(found) < want*trials || wrong > 0 {
			t.Errorf("%.0f%%: found %d of %d, wrong way %d", 100*effect, found, trials, wrong)
		}
	}
}

// The interval of the ratio holds the planted effect.
func TestRatioIsThePlantedOne(t *testing.T) {
	held := 0
	const trials = 60
	for i := range trials {
		m := newMachine(uint64(i), noises["heavy tails"])
		e := verify(t, Plan{A: m.arm(1), B: m.arm(0.8), Seed: uint64(i)}).Effects[0]
		if e.Low <= 0.8 && 0.8 <= e.High {
			held++
		}
	}
	if held < trials*85/100 {
		t.Errorf("%d of %d intervals hold the effect", held, trials)
	}
}

func TestStopsEarly(t *testing.T) {
	m := newMachine(1, func(m *machine) float64 { return 0.005 * m.NormFloat64() })
	for _, c := range []struct {
		b    float64
		want Verdict
	}{{0.5, Improved}, {2, Regressed}, {1, Same}} {
		trial := verify(t, Plan{A: m.arm(1), B: m.arm(c.b), Seed: 1})
		if e := trial.Effects[0]; e.Verdict != c.want || trial.Pairs != 10 || !slices.Equal(trial.Looks, []int{10}) {
			t.Errorf("B needs %v: %s after %d pairs, looks %v", c.b, e.Verdict, trial.Pairs, trial.Looks)
		}
	}
}

// Throughput is better when there is more of it.
func TestDirection(t *testing.T) {
	m := newMachine(2, noises["independent"])
	rate := func(r Runner) Runner {
		return func(ctx context.Context) (Sample, error) {
			s, err := r(ctx)
			s.Values[diagnosis.OpsPerSec] = 1 / s.Values[diagnosis.Elapsed]
			return s, err
		}
	}
	trial := verify(t, Plan{
		A: rate(m.arm(1)), B: rate(m.arm(0.5)), Primary: diagnosis.OpsPerSec,
		Guards: []Guard{{Metric: diagnosis.Elapsed, Limit: 0.05}},
	})
	if e := trial.Effects[0]; e.Metric != diagnosis.OpsPerSec || e.Verdict != Improved || trial.Conclusion != Confirmed {
		t.Errorf("%s %s by %v, trial %s, want %s %s, %s",
			e.Metric, e.Verdict, e.Ratio, trial.Conclusion, diagnosis.OpsPerSec, Improved, Confirmed)
	}
	trial = verify(t, Plan{A: rate(m.arm(0.5)), B: rate(m.arm(1)), Primary: diagnosis.Elapsed, Guards: []Guard{{Metric: diagnosis.OpsPerSec, Limit: 0.05}}})
	if e := trial.Effects[1]; e.Metric != diagnosis.OpsPerSec || !e.Broken || e.Verdict != Regressed {
		t.Errorf("%s %s by %v, broken %v, want %s %s, true",
			e.Metric, e.Verdict, e.Ratio, e.Broken, diagnosis.OpsPerSec, Regressed)
	}
}

// A hundredth in a counter that does not vary needs one block and no time.
func TestCounterInOneBlock(t *testing.T) {
	runs := 0
	count := func(allocs float64) Runner {
		return func(context.Context) (Sample, error) {
			runs++
			return Sample{Values: map[diagnosis.Metric]float64{diagnosis.AllocsOp: allocs, diagnosis.Syscalls: 700}}, nil
		}
	}
	never := func(context.Context) (Sample, error) { panic("a timed run was not needed") }
	trial := verify(t, Plan{A: never, B: never, CountA: count(100), CountB: count(99), Primary: diagnosis.AllocsOp})
	e := trial.Effects[0]
	if runs != 4 || !e.Exact || e.Verdict != Improved || trial.Conclusion != Confirmed || trial.Pairs != 0 || e.Ratio != 0.99 || !math.IsNaN(e.P) {
		t.Errorf("%d runs, %d pairs, %s: %s; %s by %v, exact %v, p %v, want 4, 0, %s; %s by 0.99, true, NaN",
			runs, trial.Pairs, trial.Conclusion, trial.Why, e.Verdict, e.Ratio, e.Exact, e.P, Confirmed, Improved)
	}
	if order := arms(trial); order != "ABBA" {
		t.Errorf("counted in the order %s", order)
	}
	if want := "allocs/op fell by 1.0%, counted exactly: from 100 to 99"; trial.Why != want {
		t.Errorf("why: %s", trial.Why)
	}
	if e := trial.Effects[1]; e.Metric != diagnosis.Syscalls || e.Verdict != Same {
		t.Errorf("the second effect: %s %s by %v, want %s %s", e.Metric, e.Verdict, e.Ratio, diagnosis.Syscalls, Same)
	}
	trial = verify(t, Plan{A: never, B: never, CountA: count(100), CountB: count(100.1), Primary: diagnosis.AllocsOp})
	if trial.Conclusion != Rejected || trial.Effects[0].Verdict != Same {
		t.Errorf("a thousandth: %s, %s, want %s, %s", trial.Conclusion, trial.Effects[0].Verdict, Rejected, Same)
	}
}

func arms(t *Trial) (order string) {
	for _, r := range t.Rounds {
		order += r.Arm
	}
	return order
}

func TestCountersFromNothing(t *testing.T) {
	allocs := func(v float64) Runner {
		return constant(map[diagnosis.Metric]float64{diagnosis.AllocsOp: v})
	}
	for _, c := range []struct {
		a, b float64
		want Verdict
	}{{0, 0, Same}, {0, 1, Regressed}, {1, 0, Improved}} {
		trial := verify(t, Plan{CountA: allocs(c.a), CountB: allocs(c.b), Primary: diagnosis.AllocsOp})
		if e := trial.Effects[0]; e.Verdict != c.want || !e.Exact {
			t.Errorf("%v to %v: %s, exact %v, want %s, true", c.a, c.b, e.Verdict, e.Exact, c.want)
		}
		var b bytes.Buffer
		if err := trial.Encode(&b); err != nil {
			t.Errorf("%v to %v: %v", c.a, c.b, err)
		}
	}
}

// Nearly nothing varies by much of itself, and by nothing of what there was.
func TestCounterToNearlyNothing(t *testing.T) {
	few := 5.0
	trial := verify(t, Plan{
		CountA: constant(map[diagnosis.Metric]float64{diagnosis.Goroutines: 8707}),
		CountB: func(context.Context) (Sample, error) {
			few++
			return Sample{Values: map[diagnosis.Metric]float64{diagnosis.Goroutines: few}}, nil
		},
		Primary: diagnosis.Goroutines,
	})
	if e := trial.Effects[0]; !e.Exact || e.Verdict != Improved || trial.Pairs != 0 {
		t.Errorf("%s by %v, exact %v, after %d pairs, want %s, true, after 0",
			e.Verdict, e.Ratio, e.Exact, trial.Pairs, Improved)
	}
}

// A benchmark counts in its timed runs; two pairs are then enough.
func TestCounterOfTimedRuns(t *testing.T) {
	const m = "BenchmarkParse allocs/op"
	at := func(v float64) Runner { return constant(map[diagnosis.Metric]float64{m: v}) }
	trial := verify(t, Plan{A: at(200), B: at(198), Primary: m})
	if e := trial.Effects[0]; !e.Exact || e.Verdict != Improved || trial.Pairs != 2 {
		t.Errorf("%s by %v, exact %v, after %d pairs, want %s, true, after 2",
			e.Verdict, e.Ratio, e.Exact, trial.Pairs, Improved)
	}
}

// A counter that varies by little beside what it differs by needs no test of many
// pairs, and comes first in what is said of a trial that time leaves open.
func TestClearCounterLeads(t *testing.T) {
	const parse, allocs = "BenchmarkParse ns/op", "BenchmarkParse allocs/op"
	m := newMachine(12, nil)
	arm := func(count float64) Runner {
		return func(context.Context) (Sample, error) {
			return Sample{Values: map[diagnosis.Metric]float64{
				parse: math.Exp(0.3 * m.NormFloat64()), allocs: count + float64(m.IntN(2)),
			}}, nil
		}
	}
	trial := verify(t, Plan{A: arm(126), B: arm(71), Primary: parse, Pairs: 6, Seed: 1})
	e := trial.Effects[1]
	if e.Metric != allocs || !e.Exact || e.Verdict != Improved || !(e.Low < e.High && e.High < 0.6) {
		t.Errorf("%s %s by %v to %v, exact %v, want %s %s, by less than 0.6, true",
			e.Metric, e.Verdict, e.Low, e.High, e.Exact, allocs, Improved)
	}
	if trial.Conclusion != Confirmed || !strings.HasPrefix(trial.Why, allocs+" fell by 4") || !strings.Contains(trial.Why, parse) {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
	trial = verify(t, Plan{A: arm(71), B: arm(126), Primary: parse, Pairs: 6, Seed: 1})
	if trial.Conclusion != Rejected || !strings.HasPrefix(trial.Why, allocs+" rose by") {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
	// Two more are not clear of a noise of one, and left to the test.
	trial = verify(t, Plan{A: arm(126), B: arm(128), Primary: parse, Pairs: 6, Seed: 1})
	if e := trial.Effects[1]; e.Exact || math.IsNaN(e.P) {
		t.Errorf("two more: exact %v, p %v: %s, want false, a number", e.Exact, e.P, trial.Why)
	}
}

// Counters that change against each other, or against what time says, decide nothing;
// nor does one in which chance has a part.
func TestCountersThatDoNotDecide(t *testing.T) {
	of := func(elapsed float64, v map[diagnosis.Metric]float64) Runner {
		v[diagnosis.Elapsed] = elapsed
		return constant(v)
	}
	m := newMachine(12, nil)
	noisy := func(v map[diagnosis.Metric]float64) Runner {
		return func(ctx context.Context) (Sample, error) {
			return of(math.Exp(0.3*m.NormFloat64()), maps.Clone(v))(ctx)
		}
	}
	type counts = map[diagnosis.Metric]float64
	for name, c := range map[string]struct{ a, b Runner }{
		"both ways": {noisy(counts{diagnosis.AllocsOp: 100, diagnosis.Goroutines: 10}), noisy(counts{diagnosis.AllocsOp: 50, diagnosis.Goroutines: 20})},
		"chance":    {noisy(counts{diagnosis.GCPerOp: 100}), noisy(counts{diagnosis.GCPerOp: 50})},
	} {
		if trial := verify(t, Plan{A: c.a, B: c.b, Primary: diagnosis.Elapsed, Pairs: 6, Seed: 1}); trial.Conclusion != Undecided {
			t.Errorf("%s: %s: %s", name, trial.Conclusion, trial.Why)
		}
	}
	trial := verify(t, Plan{A: of(1, counts{diagnosis.AllocsOp: 100}), B: of(1.2, counts{diagnosis.AllocsOp: 50}), Primary: diagnosis.Elapsed, Pairs: 6, Seed: 1})
	if trial.Conclusion != Rejected {
		t.Errorf("slower with fewer allocations: %s: %s", trial.Conclusion, trial.Why)
	}
}

// A metric that only some pairs measured neither makes a guard unclear when it fell nor
// keeps a trial going that is sure.
func TestGuardOfFewPairs(t *testing.T) {
	m := newMachine(4, nil)
	runs := 0
	arm := func(seconds, memory float64) Runner {
		return func(context.Context) (Sample, error) {
			s := Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: seconds * math.Exp(0.01*m.NormFloat64())}}
			if runs++; runs <= 8 { // four pairs, the warm-up among them
				s.Values[diagnosis.PeakRSS] = memory
			}
			return s, nil
		}
	}
	trial := verify(t, Plan{A: arm(1, 11), B: arm(0.5, 9.4), Seed: 9, Primary: diagnosis.Elapsed, Guards: []Guard{{Metric: diagnosis.PeakRSS, Limit: 0.1}}})
	if e := trial.Effects[1]; trial.Pairs != 10 || e.Pairs != 3 || e.Unclear || e.Kept() || !strings.Contains(trial.Why, "peak-rss not seen to be worse") {
		t.Errorf("%d pairs, %d of the guard, unclear %v, kept %v: %s, "+
			"want 10, 3, false, false: peak-rss not seen to be worse",
			trial.Pairs, e.Pairs, e.Unclear, e.Kept(), trial.Why)
	}
}

// An interval without "no change" that decides nothing says why in its row.
func TestReasonOfOpenEffect(t *testing.T) {
	m := newMachine(3, nil)
	arm := func(seconds float64) Runner {
		return func(context.Context) (Sample, error) {
			return Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: seconds * math.Exp(0.04*m.NormFloat64())}}, nil
		}
	}
	trial := verify(t, Plan{A: arm(1), B: arm(0.92), Primary: diagnosis.Elapsed, Pairs: 10, Floor: 0.09, Seed: 1})
	if e := trial.Effects[0]; e.Verdict != Inconclusive || !(e.High < 1) || e.Open != "machine's noise is 9.0%" {
		t.Errorf("%s by %v or less, open %q, want %s by less than 1, machine's noise is 9.0%%",
			e.Verdict, e.High, e.Open, Inconclusive)
	}
	trial = verify(t, Plan{A: arm(1), B: arm(0.95), Primary: diagnosis.Elapsed, Pairs: 3, Seed: 1})
	if e := trial.Effects[0]; e.Open != "only 3 pairs" {
		t.Errorf("open %q, want only 3 pairs", e.Open)
	}
}

// What the data say nothing about is no headline.
func TestSilentPrimary(t *testing.T) {
	trial := &Trial{Primary: diagnosis.P99, Margin: 0.02, Looks: []int{10}, Effects: []Effect{
		{Metric: diagnosis.P99, Verdict: Inconclusive, Ratio: 0.93, Low: 0.8, High: 1.2, Pairs: 10, P: 1, Need: 90},
	}}
	trial.conclude()
	if want := "no change of p99 is seen: 95% interval −20.0% to +20.0%, 10 pairs; about 90 pairs would decide"; trial.Why != want {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
}

// A counter that varies is judged like time, in pairs of counting runs when only
// these measure it.
func TestCounterThatVaries(t *testing.T) {
	m := newMachine(3, noises["independent"])
	switches := func(n float64) Runner {
		return func(context.Context) (Sample, error) {
			return Sample{Values: map[diagnosis.Metric]float64{diagnosis.Switches: n * math.Exp(0.05*m.NormFloat64())}}, nil
		}
	}
	for _, c := range []struct {
		name string
		plan Plan
	}{
		{"timed too", Plan{A: m.arm(1), B: m.arm(1)}},
		{"counting only", Plan{}},
	} {
		p := c.plan
		p.CountA, p.CountB, p.Primary = switches(100), switches(70), diagnosis.Switches
		trial := verify(t, p)
		if e := trial.Effects[0]; e.Exact || e.Verdict != Improved || e.Pairs < 10 || trial.Conclusion != Confirmed {
			t.Errorf("%s: %s after %d pairs, exact %v, %s: %s, want %s after 10 or more, false, %s",
				c.name, e.Verdict, e.Pairs, e.Exact, trial.Conclusion, trial.Why, Improved, Confirmed)
		}
	}
}

// Identical counters with noise of any size: exact and tested verdicts together
// stay below one in twenty.
func TestNoFalseCounters(t *testing.T) {
	const trials = 300
	for _, sd := range []float64{0.001, 0.003, 0.005, 0.03} {
		found, exact := 0, 0
		for i := range trials {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			run := func(context.Context) (Sample, error) {
				return Sample{Values: map[diagnosis.Metric]float64{diagnosis.AllocsOp: math.Exp(sd * r.NormFloat64())}}, nil
			}
			trial := verify(t, Plan{CountA: run, CountB: run, Primary: diagnosis.AllocsOp, Seed: uint64(i), draws: 100})
			if e := trial.Effects[0]; e.Verdict == Improved || e.Verdict == Regressed {
				found++
				exact += index(e.Exact)
			}
		}
		t.Logf("noise of %.2f%%: different %.1f%%, of these exactly %.1f%%", 100*sd, 100*float64(found)/trials, 100*float64(exact)/trials)
		if found > 26 { // 15 expected at most, and three standard deviations
			t.Errorf("noise of %v: %d of %d", sd, found, trials)
		}
	}
	// What falselyExact keeps for exact verdicts, by many cheap draws.
	r := rand.New(rand.NewPCG(6, 6))
	for _, sd := range []float64{0.001, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.01, 0.1} {
		different := 0
		const draws = 20_000
		for range draws {
			x := func() []float64 { return []float64{1 + sd*r.NormFloat64(), 1 + sd*r.NormFloat64()} }
			c := counter{arms: [2][]float64{x(), x()}}
			c.spread = new(Trial).spread(diagnosis.AllocsOp, c.arms)
			clear := c.apart() >= clearTimes*c.spread
			if (c.spread <= exactSpread || clear) && c.effect(diagnosis.AllocsOp, exactTimes).Verdict != Same {
				different++
			}
		}
		if share := float64(different) / draws; share > falselyExact {
			t.Errorf("noise of %v: exact and different by chance in %.2f%%", sd, 100*share)
		}
	}
}

func TestGuards(t *testing.T) {
	both := func(m *machine, seconds, p99 float64, spread float64) Runner {
		return func(context.Context) (Sample, error) {
			return Sample{Values: map[diagnosis.Metric]float64{
				diagnosis.Elapsed: seconds * math.Exp(0.01*m.NormFloat64()),
				diagnosis.P99:     p99 * math.Exp(spread*m.NormFloat64()),
			}}, nil
		}
	}
	for _, c := range []struct {
		name           string
		p99, spread    float64
		conclusion     Conclusion
		broken         bool
		unclear        bool
		least, most    int
		why            string
		primaryVerdict Verdict
	}{
		{"held", 1, 0.02, Confirmed, false, false, 10, 10, "p99 held", Improved},
		{"broken", 1.3, 0.05, Rejected, true, false, 10, 10, "p99 became worse by", Improved},
		{"fell", 0.97, 0.08, Confirmed, false, false, 10, 10, "p99 not seen to be worse", Improved},
		{"wants more pairs", 1, 0.05, Confirmed, false, false, 20, 40, "p99 held", Improved},
		{"hopeless", 1.3, 1.5, Confirmed, false, true, 10, 40, "elapsed fell by", Improved},
	} {
		m := newMachine(4, nil)
		trial := verify(t, Plan{
			A: both(m, 1, 1, c.spread), B: both(m, 0.8, c.p99, c.spread), Seed: 9,
			Primary: diagnosis.Elapsed, Guards: []Guard{{Metric: diagnosis.P99, Limit: 0.05}},
		})
		e := trial.Effects[1]
		if c.name == "hopeless" && trial.Conclusion == Undecided {
			c.conclusion = Undecided // when the estimate happens to be over the limit
		}
		if e.Metric != diagnosis.P99 || !e.Guarded || e.Broken != c.broken || e.Unclear != c.unclear {
			t.Errorf("%s: %s guarded %v, broken %v, unclear %v, want %s true, %v, %v",
				c.name, e.Metric, e.Guarded, e.Broken, e.Unclear, diagnosis.P99, c.broken, c.unclear)
		}
		if trial.Conclusion != c.conclusion || trial.Effects[0].Verdict != c.primaryVerdict || !strings.Contains(trial.Why, c.why) {
			t.Errorf("%s: %s, %s", c.name, trial.Conclusion, trial.Why)
		}
		if trial.Pairs < c.least || trial.Pairs > c.most {
			t.Errorf("%s: %d pairs", c.name, trial.Pairs)
		}
	}
}

// A guard that looks broken without being sure holds a confirmation back.
func TestDoubtfulGuard(t *testing.T) {
	trial := &Trial{Primary: diagnosis.Elapsed, Effects: []Effect{
		{Metric: diagnosis.Elapsed, Verdict: Improved, Ratio: 0.8, Low: 0.7, High: 0.9, Pairs: 40},
		{Metric: diagnosis.P99, Guarded: true, Guard: 0.05, Unclear: true, Ratio: 1.2, Low: 1.01, High: 1.5, Pairs: 40},
	}}
	trial.conclude()
	if trial.Conclusion != Undecided || !strings.Contains(trial.Why, "p99 looks worse by 20.0%") {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
}

// An estimate over the limit whose interval has no change at all in it is noise: it
// does not hold back a confirmation, and is no headline when nothing but noise is seen.
func TestNoisyGuard(t *testing.T) {
	for p, want := range map[float64]string{0.1: "p99 may be worse by up to 50.0%", 1: ""} {
		trial := &Trial{Primary: diagnosis.Elapsed, Effects: []Effect{
			{Metric: diagnosis.Elapsed, Verdict: Improved, Ratio: 0.05, Low: 0.04, High: 0.06, Pairs: 40},
			{Metric: diagnosis.P99, Guarded: true, Guard: 0.05, Unclear: true, Ratio: 1.2, Low: 0.9, High: 1.5, Pairs: 40, P: p},
		}}
		trial.conclude()
		trial.warn()
		if trial.Conclusion != Confirmed || strings.Contains(trial.Why, "p99") != (want != "") || !strings.Contains(trial.Why, want) {
			t.Errorf("p %v: %s: %s", p, trial.Conclusion, trial.Why)
		}
		if warned := strings.Contains(strings.Join(trial.Warnings, "\n"), "p99 varies too much"); warned != (want == "") {
			t.Errorf("p %v: warnings %q", p, trial.Warnings)
		}
	}
}

// Four MiB more are no reason against a change, whatever share they are; what is more
// than the least is.
func TestGuardWithLeast(t *testing.T) {
	const mib = 1 << 20
	arm := func(m *machine, seconds, memory float64) Runner {
		return func(context.Context) (Sample, error) {
			return Sample{Values: map[diagnosis.Metric]float64{
				diagnosis.Elapsed: seconds * math.Exp(0.01*m.NormFloat64()),
				diagnosis.PeakRSS: memory * math.Exp(0.02*m.NormFloat64()),
			}}, nil
		}
	}
	for _, c := range []struct {
		a, b, least float64
		want        Conclusion
	}{
		{10 * mib, 14 * mib, 8 * mib, Confirmed},
		{10 * mib, 14 * mib, 0, Rejected},
		{10 * mib, 30 * mib, 8 * mib, Rejected},
		{1000 * mib, 1050 * mib, 8 * mib, Confirmed}, // the share allows it
	} {
		m := newMachine(4, nil)
		trial := verify(t, Plan{
			A: arm(m, 1, c.a), B: arm(m, 0.05, c.b), Primary: diagnosis.Elapsed, Seed: 9,
			Guards: []Guard{{Metric: diagnosis.PeakRSS, Limit: 0.10, Least: c.least}},
		})
		if trial.Conclusion != c.want || trial.Effects[1].Broken != (c.want == Rejected) {
			t.Errorf("%v to %v, least %v: broken %v, %s: %s, want %v, %s",
				c.a, c.b, c.least, trial.Effects[1].Broken, trial.Conclusion, trial.Why, c.want == Rejected, c.want)
		}
	}
}

// A change that is surely no gain is rejected, whether it is the same or worse;
// one that may still be a gain is not.
func TestNoGain(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		metric    diagnosis.Metric
		want      Conclusion
	}{
		{0.99, 1.08, diagnosis.Elapsed, Rejected},
		{0.97, 1.08, diagnosis.Elapsed, Undecided},
		{0.92, 1.01, diagnosis.OpsPerSec, Rejected},
		{0.92, 1.05, diagnosis.OpsPerSec, Undecided},
	} {
		trial := &Trial{Primary: c.metric, Margin: 0.02, Looks: []int{10, 20, 40}, Effects: []Effect{
			{Metric: c.metric, Verdict: Inconclusive, Ratio: (c.low + c.high) / 2, Low: c.low, High: c.high, Pairs: 40, Need: 90},
		}}
		trial.conclude()
		if excluded := strings.Contains(trial.Why, "is excluded"); trial.Conclusion != c.want || excluded != (c.want == Rejected) {
			t.Errorf("%s by %v to %v: %s: %s, want %s, that it is excluded %v",
				c.metric, c.low, c.high, trial.Conclusion, trial.Why, c.want, c.want == Rejected)
		}
	}
}

// A primary that counting decides still lets a guard of time have its pairs, as
// few as it needs.
func TestExactPrimaryWithGuard(t *testing.T) {
	m := newMachine(5, func(m *machine) float64 { return 0.01 * m.NormFloat64() })
	allocs := func(v float64) Runner { return constant(map[diagnosis.Metric]float64{diagnosis.AllocsOp: v}) }
	p := Plan{
		A: m.arm(1), B: m.arm(1), CountA: allocs(10), CountB: allocs(9),
		Primary: diagnosis.AllocsOp, Guards: []Guard{{Metric: diagnosis.Elapsed, Limit: 0.05}},
	}
	trial := verify(t, p)
	if trial.Pairs != 10 || trial.Conclusion != Confirmed || !trial.Effects[0].Exact || trial.Effects[1].Unclear {
		t.Errorf("%d pairs, %s: %s", trial.Pairs, trial.Conclusion, trial.Why)
	}
	p.Guards = []Guard{{Metric: diagnosis.P99, Limit: 0.05}} // which nobody measures
	trial = verify(t, p)
	if trial.Pairs != 0 || trial.Conclusion != Confirmed || !slices.Contains(trial.Warnings, "the guard p99 was not measured") {
		t.Errorf("%d pairs, %s: %q", trial.Pairs, trial.Conclusion, trial.Warnings)
	}
}

// A counter that breaks its guard does not keep the primary from being measured.
func TestBrokenCounterGuard(t *testing.T) {
	m := newMachine(5, func(m *machine) float64 { return 0.01 * m.NormFloat64() })
	allocs := func(v float64) Runner { return constant(map[diagnosis.Metric]float64{diagnosis.AllocsOp: v}) }
	trial := verify(t, Plan{
		A: m.arm(1), B: m.arm(0.5), CountA: allocs(10), CountB: allocs(20),
		Primary: diagnosis.Elapsed, Guards: []Guard{{Metric: diagnosis.AllocsOp, Limit: 0.05}},
	})
	if trial.Conclusion != Rejected || trial.Effects[0].Verdict != Improved || !trial.Effects[1].Broken {
		t.Errorf("%s: %s", trial.Conclusion, trial.Why)
	}
	if want := "allocs/op became worse by 100%, the limit is 5.0%; elapsed fell by "; !strings.HasPrefix(trial.Why, want) {
		t.Errorf("%s", trial.Why)
	}
}

// What remains of the machine's noise falls with the root of the pairs.
func TestNoise(t *testing.T) {
	for pairs, want := range map[int]float64{0: 0.1, 10: 0.1, 40: 0.05} {
		if got := (&Trial{Floor: 0.1}).noise(pairs); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d pairs: %v", pairs, got)
		}
	}
}

// The floor keeps small differences from being called any.
func TestFloor(t *testing.T) {
	m := newMachine(6, func(m *machine) float64 { return 0.005 * m.NormFloat64() })
	p := Plan{A: m.arm(1), B: m.arm(0.96)}
	if trial := verify(t, p); trial.Effects[0].Verdict != Improved {
		t.Errorf("without a floor: %s", trial.Why)
	}
	p.Floor = 0.1
	trial := verify(t, p)
	if trial.Effects[0].Verdict != Same || !strings.Contains(trial.Why, "within 5.0%") {
		t.Errorf("below the floor: %s", trial.Why)
	}
}

// Rounds on a busy machine are run again.
func TestBusyRounds(t *testing.T) {
	m := newMachine(7, noises["independent"])
	disturbed := func(seconds float64, share func() float64) Runner {
		return func(ctx context.Context) (Sample, error) {
			s, err := m.arm(seconds)(ctx)
			s.Conditions = Conditions{Others: share(), Steal: -1}
			if s.Conditions.Others > DefaultGate.Others {
				s.Values[diagnosis.Elapsed] *= 10
			}
			return s, err
		}
	}
	sometimes := func() float64 {
		if m.IntN(8) == 0 {
			return 0.5
		}
		return 0.01
	}
	trial := verify(t, Plan{A: disturbed(1, sometimes), B: disturbed(0.7, sometimes), Seed: 2})
	if trial.Conclusion != Confirmed || trial.Dropped == 0 || trial.Busy || len(trial.Warnings) > 0 {
		t.Errorf("%s, %d dropped: %s %q", trial.Conclusion, trial.Dropped, trial.Why, trial.Warnings)
	}
	for _, r := range trial.Rounds {
		if r.Dropped == "" && r.Conditions.Others > DefaultGate.Others {
			t.Errorf("round %d of %s counts with %v used by others, want at most %v",
				r.Pair, r.Arm, r.Conditions.Others, DefaultGate.Others)
		}
	}
	always := func() float64 { return 0.5 }
	trial = verify(t, Plan{A: disturbed(1, always), B: disturbed(0.7, always), Seed: 2})
	if trial.Conclusion != Confirmed || !trial.Busy || trial.Dropped != 0 || trial.Pairs > 40 || len(trial.Warnings) != 1 {
		t.Errorf("always busy: %s, %d pairs, %d dropped: %q", trial.Conclusion, trial.Pairs, trial.Dropped, trial.Warnings)
	}
	if got := arms(trial); len(got) != 2+2*trial.Pairs {
		t.Errorf("%d runs for %d pairs", len(got), trial.Pairs)
	}
}

// Whenever the machine becomes busy, a trial ends, within its pairs.
func TestBusyIsBounded(t *testing.T) {
	for _, most := range []int{1, 6, 12, 20, 40} {
		for from := range 50 {
			runs := 0
			run := func(context.Context) (Sample, error) {
				runs++
				s := Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: float64(1 + runs%7)}}
				if runs > from {
					s.Conditions.Steal = 0.5
				}
				return s, nil
			}
			trial := verify(t, Plan{A: run, B: run, Pairs: most, Seed: uint64(from), draws: 50})
			if trial.Pairs > most || runs > 2+4*most+2 {
				t.Fatalf("most %d, busy from run %d: %d pairs in %d runs", most, from, trial.Pairs, runs)
			}
		}
	}
}

func TestOrderOfRuns(t *testing.T) {
	order := func(seed uint64) string {
		m := newMachine(1, func(m *machine) float64 { return m.NormFloat64() })
		return arms(verify(t, Plan{A: m.arm(1), B: m.arm(1), Seed: seed, draws: 50}))
	}
	first := order(1)
	if first != order(1) {
		t.Error("the same seed has another order")
	}
	if first == order(2) {
		t.Error("another seed has the same order")
	}
	ab := 0
	for i := 0; i+1 < len(first); i += 2 {
		if first[i] == first[i+1] {
			t.Fatalf("pair %d is %s", i/2, first[i:i+2])
		}
		ab += index(first[i] == 'A')
	}
	if pairs := len(first) / 2; ab < pairs/4 || ab > 3*pairs/4 {
		t.Errorf("A first in %d of %d pairs", ab, pairs)
	}
}

// Why each pair has a coin of its own: with one for each block ABBA or BAAB, noise
// that lasts from run to run makes the signs of two pairs agree, and the rank
// test finds differences of what is the same.
func TestCoinForEachPair(t *testing.T) {
	share := func(blocks bool) float64 {
		r := rand.New(rand.NewPCG(15, 1))
		found := 0
		const trials = 8000
		for range trials {
			noise, sign := r.NormFloat64(), 1.0
			d := make([]float64, 40)
			for i := range d {
				first := noise
				second := 0.5*first + r.NormFloat64()
				noise = 0.5*second + r.NormFloat64()
				if coin := float64(1 - 2*r.IntN(2)); blocks && i%2 == 1 {
					sign = -sign
				} else {
					sign = coin
				}
				d[i] = sign * (second - first)
			}
			found += index(statistics.SignedRank(d) <= falsely)
		}
		return float64(found) / trials
	}
	coin, blocks := share(false), share(true)
	t.Logf("a coin for each pair: %.2f%%, for each block: %.2f%%", 100*coin, 100*blocks)
	if coin > 0.055 || blocks < 0.058 {
		t.Errorf("a coin for each pair: %.2f%%, for each block: %.2f%%", 100*coin, 100*blocks)
	}
}

func TestFailingRun(t *testing.T) {
	broken := errors.New("exit status 1: panic: no such file")
	runs := 0
	failing := func(context.Context) (Sample, error) {
		if runs++; runs > 3 {
			return Sample{}, broken
		}
		return Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: 1}}, nil
	}
	m := newMachine(1, noises["independent"])
	trial, err := Verify(context.Background(), Plan{A: m.arm(1), B: failing}, nil)
	var run *RunError
	if !errors.As(err, &run) || run.Arm != "B" || run.Pair != 3 || run.Count || !errors.Is(err, broken) {
		t.Fatalf("%#v", err)
	}
	if want := "arm B failed (pair 3): exit status 1: panic: no such file"; err.Error() != want {
		t.Errorf("%s", err)
	}
	if trial == nil {
		t.Error("Verify() that fails = nil, want a trial")
	} else if trial.Pairs != 2 || trial.Conclusion != Undecided {
		t.Errorf("Verify() that fails is %s after %d pairs, want %s after 2", trial.Conclusion, trial.Pairs, Undecided)
	}
	_, err = Verify(context.Background(), Plan{CountA: failing, CountB: failing, Primary: diagnosis.Elapsed}, nil)
	if !errors.As(err, &run) || !run.Count || run.Pair != 0 {
		t.Errorf("%v", err)
	}
}

func TestCancel(t *testing.T) {
	for after, verdict := range map[int]Verdict{0: "", 1: "", 2: Inconclusive, 9: Inconclusive, 51: Improved} {
		ctx, cancel := context.WithCancel(context.Background())
		m := newMachine(8, noises["independent"])
		runs := 0
		stop := func(seconds float64) Runner {
			return func(ctx context.Context) (Sample, error) {
				if runs++; runs > after {
					cancel()
					return Sample{}, fmt.Errorf("killed: %w", ctx.Err())
				}
				s, err := m.arm(seconds)(ctx)
				s.Values[diagnosis.P99] = math.Exp(1.2*m.NormFloat64()) / seconds // worse in B
				return s, err
			}
		}
		// The guard needs more pairs than the primary, and keeps the trial going.
		trial, err := Verify(ctx, Plan{
			A: stop(1), B: stop(0.7), Primary: diagnosis.Elapsed, Guards: []Guard{{Metric: diagnosis.P99, Limit: 0.5}}, Pairs: 160, Seed: 1,
		}, nil)
		cancel()
		if trial == nil || !errors.Is(err, context.Canceled) || trial.Pairs != max(after-2, 0)/2 {
			t.Fatalf("Verify() that ends after %d runs = %+v, %v, want %d pairs, %v",
				after, trial, err, max(after-2, 0)/2, context.Canceled)
		}
		if e := trial.Effects[0]; after >= 2 && e.Verdict != verdict {
			t.Errorf("after %d runs: %s", after, trial.Why)
		}
		if after < 2 && trial.Conclusion != Undecided {
			t.Errorf("after %d runs: %s", after, trial.Conclusion)
		}
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	run := constant(map[diagnosis.Metric]float64{diagnosis.Elapsed: 1})
	for name, p := range map[string]Plan{
		"nothing":        {},
		"one arm":        {A: run},
		"one count":      {A: run, B: run, CountB: run},
		"many pairs":     {A: run, B: run, Pairs: MaxPairs + 1},
		"margin":         {A: run, B: run, Margin: math.NaN()},
		"floor":          {A: run, B: run, Floor: -1},
		"guard":          {A: run, B: run, Guards: []Guard{{Metric: diagnosis.P99, Limit: -0.1}}},
		"no such metric": {A: run, B: run, Primary: diagnosis.P99},
	} {
		if _, err := Verify(context.Background(), p, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, err := Verify(context.Background(), Plan{A: run, B: run, Primary: diagnosis.P99}, nil)
	if err == nil || !strings.Contains(err.Error(), "measured are elapsed") {
		t.Errorf("%v", err)
	}
}

func TestFewPairs(t *testing.T) {
	m := newMachine(9, noises["independent"])
	trial := verify(t, Plan{A: m.arm(1), B: m.arm(0.3), Pairs: 3})
	if trial.Conclusion != Undecided || len(trial.Warnings) != 1 || !strings.Contains(trial.Warnings[0], "the least number is 6") {
		t.Errorf("%s: %s %q", trial.Conclusion, trial.Why, trial.Warnings)
	}
	if trial = verify(t, Plan{A: m.arm(1), B: m.arm(0.3), Pairs: 6}); trial.Conclusion != Confirmed {
		t.Errorf("six pairs: %s", trial.Why)
	}
}

func TestLooks(t *testing.T) {
	for most, want := range map[int][]int{1: {1}, 6: {6}, 12: {12}, 20: {10, 20}, 40: {10, 20, 40}, 80: {20, 40, 80}} {
		if got := looks(most); !slices.Equal(got, want) {
			t.Errorf("%d pairs: looks at %v, want %v", most, got, want)
		}
	}
}

func TestInconclusiveSaysHowMany(t *testing.T) {
	m := newMachine(10, noises["independent"])
	trial := verify(t, Plan{A: m.arm(1), B: m.arm(0.97), Seed: 4})
	e := trial.Effects[0]
	if e.Verdict != Inconclusive || e.Need <= 40 || trial.Conclusion != Undecided || !strings.Contains(trial.Why, "would decide") {
		t.Errorf("need %d: %s", e.Need, trial.Why)
	}
}

// Several metrics without any effect: one of them is called different in one of
// twenty trials at most.
func TestOtherMetricsTogether(t *testing.T) {
	trials := manyTrials(t)
	found := 0
	for i := range trials {
		r := rand.New(rand.NewPCG(uint64(i), 8))
		run := func(context.Context) (Sample, error) {
			s := Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: math.Exp(0.1 * r.NormFloat64())}}
			for _, m := range []diagnosis.Metric{diagnosis.P50, diagnosis.P99, diagnosis.PeakRSS, diagnosis.LiveHeap, "x/op"} {
				s.Values[m] = math.Exp(0.2 * r.NormFloat64())
			}
			return s, nil
		}
		for _, e := range verify(t, Plan{A: run, B: run, Primary: diagnosis.Elapsed, Seed: uint64(i), draws: 100}).Effects[1:] {
			if e.Verdict == Improved || e.Verdict == Regressed {
				found++
				break
			}
		}
	}
	t.Logf("%d of %d", found, trials)
	if found > falseOf(trials) {
		t.Errorf("%d of %d trials called another metric different", found, trials)
	}
}

func TestProgress(t *testing.T) {
	m := newMachine(11, noises["independent"])
	last, calls, ratio := 0, 0, Interval{}
	_, err := Verify(context.Background(), Plan{A: m.arm(1), B: m.arm(0.5), draws: 100}, func(pairs, of int, r Interval) {
		if pairs < last || of != 40 {
			t.Errorf("%d of %d after %d", pairs, of, last)
		}
		last, calls, ratio = pairs, calls+1, r
	})
	sure := ratio.Low > 0.4 && ratio.Low <= ratio.Value && ratio.Value <= ratio.High && ratio.High < 0.6
	if calls != 2+10 { // of the warm-up each run, and then each pair
		t.Errorf("%d calls of progress, want 12", calls)
	}
	if err != nil || last != 10 || math.Abs(ratio.Value-0.5) > 0.1 || !sure {
		t.Errorf("%v: %d pairs, ratio %v", err, last, ratio)
	}
}
