package experiment

import (
	"math"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

var nan = math.NaN()

// An effect of time that is sure, for tests that are about something else.
func sure(m diagnosis.Metric, v Verdict, ratio float64) Effect {
	return Effect{Metric: m, Verdict: v, Ratio: ratio, Low: ratio - 0.05, High: ratio + 0.05, P: 0.001, Pairs: 20, A: 2, B: 2 * ratio}
}

// guarded is an effect that is held to a limit of a tenth.
func guarded(e Effect) Effect {
	e.Guarded, e.Guard = true, 0.1
	return e
}

// What a trial says of itself: the conclusion and its sentence, of effects put together by hand.
func TestConclusions(t *testing.T) {
	faster := sure(diagnosis.Elapsed, Improved, 0.5)
	unsure := Effect{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Ratio: 0.95, Low: 0.85, High: 1.05, P: 0.2, Pairs: 20, Need: 73}
	counted := func(m diagnosis.Metric, v Verdict, a, b float64) Effect {
		return Effect{Metric: m, Verdict: v, Exact: true, A: a, B: b, Ratio: b / a, Low: b / a, High: b / a, P: nan}
	}
	held := guarded(Effect{Metric: diagnosis.P99, Verdict: Same, Ratio: 1.01, Low: 0.98, High: 1.04, P: 0.4, Pairs: 20})
	slower := guarded(Effect{Metric: diagnosis.P99, Verdict: Regressed, Ratio: 1.5, Low: 1.3, High: 1.7, P: 0.001, Pairs: 20, Broken: true})
	open := guarded(Effect{Metric: diagnosis.P99, Verdict: Inconclusive, Ratio: 1.05, Low: 0.95, High: 1.2, P: 0.3, Pairs: 20, Unclear: true})
	alarming := guarded(Effect{Metric: diagnosis.P50, Verdict: Inconclusive, Ratio: 1.2, Low: 1.01, High: 1.4, P: 0.04, Pairs: 20, Unclear: true})
	few := guarded(Effect{Metric: diagnosis.PeakRSS, Verdict: Inconclusive, Ratio: 0.9, Low: nan, High: nan, P: 0.3, Pairs: 3})
	const fell = "elapsed fell by 50.0%, 95% interval −55.0% to −45.0%, 20 pairs"
	for _, tt := range []struct {
		name    string
		effects []Effect
		want    Conclusion
		why     string
	}{
		{"nothing", nil, Undecided, "nothing was measured"},
		{"another metric", []Effect{sure(diagnosis.P50, Improved, 0.5)}, Undecided, "nothing was measured"},
		{"improved", []Effect{faster}, Confirmed, fell},
		{"regressed", []Effect{sure(diagnosis.Elapsed, Regressed, 2.5)}, Rejected, "elapsed rose to 2.50 times, 95% interval ×2.45 to ×2.55, 20 pairs"},
		{"same", []Effect{{Metric: diagnosis.Elapsed, Verdict: Same, Ratio: 1.001, Low: 0.99, High: 1.01, P: 0.8, Pairs: 10}}, Rejected,
			"elapsed is the same within 2.0%: it rose by 0.1%, 95% interval −1.0% to +1.0%, 10 pairs"},
		{"open", []Effect{unsure}, Undecided, "elapsed fell by 5.0%, 95% interval −15.0% to +5.0%, 20 pairs: not sure; about 73 pairs would decide"},
		{"no news", []Effect{{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Ratio: 1.02, Low: 0.9, High: 1.15, P: 0.5, Pairs: 20, Need: 1234}}, Undecided,
			"no change of elapsed is seen: 95% interval −10.0% to +15.0%, 20 pairs; about 1300 pairs would decide"},
		{"no gain", []Effect{{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Ratio: 1.03, Low: 0.99, High: 1.06, P: 0.1, Pairs: 20, Need: 73}}, Rejected,
			"elapsed rose by 3.0%, 95% interval −1.0% to +6.0%, 20 pairs: not sure; a gain beyond the margin is excluded"},
		{"few pairs", []Effect{{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Ratio: 0.5, Low: nan, High: nan, P: 0.25, Pairs: 3}}, Undecided,
			"3 pairs of at least 10 cannot decide about elapsed"},
		{"no pair", []Effect{{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Ratio: nan, Low: nan, High: nan, P: nan}}, Undecided, "no pair measured elapsed"},
		{"a counter fell", []Effect{unsure, counted(diagnosis.AllocsOp, Improved, 100, 50)}, Confirmed,
			"allocs/op fell by 50.0%, counted exactly: from 100 to 50; elapsed fell by 5.0%, 95% interval −15.0% to +5.0%, 20 pairs: not sure; about 73 pairs would decide"},
		{"a counter rose", []Effect{unsure, counted(diagnosis.AllocsOp, Regressed, 100, 150)}, Rejected,
			"allocs/op rose by 50.0%, counted exactly: from 100 to 150; elapsed fell by 5.0%, 95% interval −15.0% to +5.0%, 20 pairs: not sure; about 73 pairs would decide"},
		{"counters are named where the time is sure, too, in the table alone", []Effect{faster, counted(diagnosis.AllocsOp, Improved, 100, 50)}, Confirmed, fell},
		{"four counters", []Effect{unsure, counted("a allocs/op", Improved, 100, 50), counted("b allocs/op", Improved, 100, 50),
			counted("c allocs/op", Improved, 100, 50), counted("d allocs/op", Improved, 100, 50)}, Confirmed,
			"a allocs/op fell by 50.0%, counted exactly: from 100 to 50; b allocs/op fell by 50.0%, counted exactly: from 100 to 50; " +
				"c allocs/op fell by 50.0%, counted exactly: from 100 to 50; and 1 more counter changed; " +
				"elapsed fell by 5.0%, 95% interval −15.0% to +5.0%, 20 pairs: not sure; about 73 pairs would decide"},
		{"a counter that is the same", []Effect{counted(diagnosis.Elapsed, Same, 7, 7)}, Rejected, "elapsed is the same, counted exactly: 7 and 7"},
		{"a counter that varies", []Effect{{Metric: diagnosis.Elapsed, Verdict: Improved, Exact: true, A: 100, B: 50, Ratio: 0.5, Low: 0.48, High: 0.52, P: nan}}, Confirmed,
			"elapsed fell by 50.0%, counted: from 100 to 50, −52.0% to −48.0% in all runs"},
		{"a guard held", []Effect{faster, held}, Confirmed, fell + "; p99 held"},
		{"a guard has no interval, and fell", []Effect{faster, few}, Confirmed, fell + "; peak-rss not seen to be worse"},
		{"a guard broke", []Effect{faster, slower}, Rejected, "p99 became worse by 50.0% (at least 30.0%), the limit is 10.0%; " + fell},
		{"a counted guard broke", []Effect{faster, func() Effect {
			e := guarded(counted(diagnosis.AllocsOp, Regressed, 100, 150))
			e.Broken = true
			return e
		}()}, Rejected, "allocs/op became worse by 50.0%, the limit is 10.0%; " + fell},
		{"a guard is open", []Effect{faster, open}, Confirmed, fell + "; p99 may be worse by up to 20.0%, over its limit of 10.0%"},
		{"a guard alarms", []Effect{faster, alarming}, Undecided, fell + "; p50 looks worse by 20.0%, over its limit of 10.0%, without being sure"},
		{"a guard alarms, another is open", []Effect{faster, open, alarming}, Undecided,
			fell + "; p50 looks worse by 20.0%, over its limit of 10.0%, without being sure; p99 may be worse by up to 20.0%, over its limit of 10.0%"},
		{"all is open", []Effect{unsure, alarming}, Undecided, "elapsed fell by 5.0%, 95% interval −15.0% to +5.0%, 20 pairs: not sure; about 73 pairs would decide; " +
			"p50 looks worse by 20.0%, over its limit of 10.0%, without being sure"},
		{"what is rejected says nothing of open guards", []Effect{sure(diagnosis.Elapsed, Regressed, 1.5), alarming}, Rejected,
			"elapsed rose by 50.0%, 95% interval +45.0% to +55.0%, 20 pairs"},
		{"a guard of too few pairs", []Effect{faster, func() Effect { e := few; e.Unclear = true; return e }()}, Confirmed,
			fell + "; too few pairs to say whether peak-rss keeps to its limit of 10.0%"},
		{"a guard that nobody measured", []Effect{faster, guarded(Effect{Metric: diagnosis.P99, Ratio: nan, Low: nan, High: nan, P: nan, Unclear: true})}, Confirmed, fell},
		{"a limit of more than all", []Effect{faster, func() Effect {
			e := guarded(Effect{Metric: diagnosis.PeakRSS, Verdict: Regressed, A: 4 << 20, B: 40 << 20, Ratio: 10, Low: 9, High: 11, P: 0.001, Pairs: 20, Broken: true})
			e.Guard = 2
			return e
		}()}, Rejected, "peak-rss became worse by 900% (at least 800%), the limit is 8 MiB more; " + fell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Primary: diagnosis.Elapsed, Margin: 0.02, Looks: []int{10, 20}, Most: 40, Effects: tt.effects}
			trial.conclude()
			if trial.Conclusion != tt.want || trial.Why != tt.why {
				t.Errorf("conclude: %s: %s\nwant %s: %s", trial.Conclusion, trial.Why, tt.want, tt.why)
			}
		})
	}
}

// Counters decide where time is open, when all go one way and time does not surely point the other.
func TestDecidedByCounters(t *testing.T) {
	counter := func(m diagnosis.Metric, v Verdict) Effect { return Effect{Metric: m, Verdict: v, Exact: true} }
	better, worse := counter(diagnosis.AllocsOp, Improved), counter(diagnosis.BytesOp, Regressed)
	tested := better
	tested.Exact = false
	for _, tt := range []struct {
		name      string
		low, high float64
		counters  []Effect
		want      Conclusion
	}{
		{"none", 0.9, 1.1, nil, Undecided},
		{"one fell", 0.9, 1.1, []Effect{better}, Confirmed},
		{"one rose", 0.9, 1.1, []Effect{worse}, Rejected},
		{"both", 0.9, 1.1, []Effect{better, worse}, Undecided},
		{"fell, and time rose", 1.01, 1.1, []Effect{better}, Undecided},
		{"fell, and time touches none", 1, 1.1, []Effect{better}, Confirmed},
		{"rose, and time fell", 0.9, 0.99, []Effect{worse}, Undecided},
		{"rose, and time touches none", 0.9, 1, []Effect{worse}, Rejected},
		{"time without an interval", nan, nan, []Effect{better}, Confirmed},
		{"the same", 0.9, 1.1, []Effect{counter(diagnosis.AllocsOp, Same)}, Undecided},
		{"decided by a test", 0.9, 1.1, []Effect{tested}, Undecided},
		{"chance has a part", 0.9, 1.1, []Effect{counter(diagnosis.GCPerOp, Improved)}, Undecided},
		{"no counter", 0.9, 1.1, []Effect{counter(diagnosis.P99, Improved)}, Undecided},
	} {
		t.Run(tt.name, func(t *testing.T) {
			primary := Effect{Metric: diagnosis.Elapsed, Verdict: Inconclusive, Low: tt.low, High: tt.high}
			trial := &Trial{Primary: diagnosis.Elapsed, Effects: append([]Effect{primary}, tt.counters...)}
			if got := trial.decidedByCounters(); got != tt.want {
				t.Errorf("decidedByCounters() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestChangeInWords(t *testing.T) {
	for ratio, want := range map[float64]string{
		math.Inf(1): "rose from nothing",
		0:           "fell to nothing",
		1:           "did not change",
		2:           "rose to 2 times",
		1.999:       "rose by 99.9%",
		1.001:       "rose by 0.1%",
		0.25:        "fell by 75.0%",
	} {
		if got := change(ratio); got != want {
			t.Errorf("change(%v) = %q, want %q", ratio, got, want)
		}
	}
}

func TestRoughly(t *testing.T) {
	for n, want := range map[int]string{
		7:       "7 pairs",
		99:      "99 pairs",
		100:     "100 pairs",
		101:     "110 pairs",
		1234:    "1300 pairs",
		99_001:  "100000 pairs",
		100_000: "100000 pairs",
		100_001: "more than 100000 pairs",
	} {
		if got := roughly(n); got != want {
			t.Errorf("roughly(%d) = %q, want %q", n, got, want)
		}
	}
}

// The reader must know what a verdict rests on, and is told each thing once.
func TestWarnings(t *testing.T) {
	timed := Effect{Metric: diagnosis.Elapsed, Verdict: Inconclusive, P: 0.2}
	silent := guarded(Effect{Metric: diagnosis.P99, P: vague, Ratio: 1.2, Low: 0.7, High: 2, Pairs: 20, Unclear: true})
	round := func(arm string, values values, warnings ...string) Round {
		return Round{Arm: arm, Sample: Sample{Values: values, Warnings: warnings}}
	}
	both := []Round{round("A", values{diagnosis.P99: 1}, "late"), round("B", values{diagnosis.P99: 1}, "late", "cold")}
	many := make([]string, 2*mostWarnings)
	for i := range many {
		many[i] = strings.Repeat("x", i)
	}
	for _, tt := range []struct {
		name  string
		trial Trial
		want  []string
	}{
		{"nothing", Trial{Most: 40}, nil},
		{"a busy machine", Trial{Most: 40, Busy: true}, []string{"the machine was busy most of the time: busy pairs are counted, which widens the intervals"}},
		{"five pairs", Trial{Most: 5, Effects: []Effect{timed}}, []string{"5 pairs can prove no difference: the least number is 6"}},
		{"six pairs", Trial{Most: 6, Effects: []Effect{timed}}, nil},
		{"one pair for a counter", Trial{Most: 1, Effects: []Effect{{Exact: true}}}, nil},
		{"one pair, and nothing measured", Trial{Most: 1}, nil},
		{"a guard without values", Trial{Most: 40, Guards: []Guard{{Metric: diagnosis.P50}}, Rounds: both[:1]}, []string{"the guard p50 was not measured", "late"}},
		{"before there was a run", Trial{Most: 40, Guards: []Guard{{Metric: diagnosis.P50}}}, nil},
		{"what the runs say", Trial{Most: 40, Guards: []Guard{{Metric: diagnosis.P99}}, Rounds: both}, []string{"late", "cold"}},
		{"a guard of noise", Trial{Most: 40, Effects: []Effect{silent}},
			[]string{"p99 varies too much here to hold it to its limit: p99 may be worse by up to 100%, over its limit of 10.0%"}},
		{"no more than a screen", Trial{Most: 40, Rounds: []Round{round("A", nil, many...)}}, many[:mostWarnings]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.trial.warn()
			if got, want := strings.Join(tt.trial.Warnings, "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("warn:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// How many pairs the first look wants, six at least.
func TestLeastPairs(t *testing.T) {
	for most, want := range map[int]string{3: "at least 6", 7: "at least 7", 12: "at least 12", 40: "at least 10", 80: "at least 20"} {
		if got := least(most); got != want {
			t.Errorf("least(%d) = %q, want %q", most, got, want)
		}
	}
}

// A limit is a share, and beyond as much again what that is in the metric's unit.
func TestLimitInWords(t *testing.T) {
	for _, tt := range []struct {
		effect Effect
		want   string
	}{
		{Effect{Metric: diagnosis.PeakRSS, A: 4 << 20, B: 1, Guard: 0.5}, "50.0%"},
		{Effect{Metric: diagnosis.PeakRSS, A: 4 << 20, B: 1, Guard: 1}, "100%"},
		{Effect{Metric: diagnosis.PeakRSS, A: 4 << 20, B: 1, Guard: 1.5}, "6 MiB more"},
		{Effect{Metric: diagnosis.PeakRSS, B: 1, Guard: 2}, "200%"},
		{Effect{Metric: "BenchmarkParse ns/op", A: 100, B: 1, Guard: 2}, "200 ns more"},
	} {
		if got := tt.effect.limitText(); got != tt.want {
			t.Errorf("limitText of %v × %v = %q, want %q", tt.effect.A, tt.effect.Guard, got, tt.want)
		}
	}
}

// A gain is excluded by the interval of six pairs and more that were looked at.
func TestGainIsExcluded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		effect Effect
		looks  []int
		want   bool
	}{
		{"six pairs", Effect{Metric: diagnosis.PeakRSS, Pairs: 6, Low: 0.99}, []int{6}, true},
		{"five pairs", Effect{Metric: diagnosis.PeakRSS, Pairs: 5, Need: 90, Low: 0.99}, []int{6}, false},
		{"nobody has looked", Effect{Metric: diagnosis.PeakRSS, Pairs: 6, Low: 0.99}, nil, false},
		{"at the margin", Effect{Metric: diagnosis.PeakRSS, Pairs: 6, Low: 1 / 1.02}, []int{6}, true},
		{"beyond the margin", Effect{Metric: diagnosis.PeakRSS, Pairs: 6, Low: 0.98}, []int{6}, false},
		{"no interval", Effect{Metric: diagnosis.PeakRSS, Pairs: 6, Low: nan}, []int{6}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{Margin: 0.02, Looks: tt.looks}
			if got := trial.noGain(tt.effect); got != tt.want {
				t.Errorf("noGain = %v, want %v", got, tt.want)
			}
		})
	}
	for p, want := range map[float64]bool{0.49: false, 0.5: true, 1: true} {
		if got := (Effect{P: p}).silent(); got != want || (Effect{P: p, Exact: true}).silent() {
			t.Errorf("silent with a p of %v = %v, want %v", p, got, want)
		}
	}
}
