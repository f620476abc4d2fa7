package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// saved are trials of all kinds.
func saved(t testing.TB) map[string]*Trial {
	list := map[string]*Trial{}
	add := func(name string, p Plan) {
		trial, err := Verify(context.Background(), p, nil)
		if err != nil && trial == nil {
			t.Fatal(err)
		}
		list[name] = trial
	}
	m := newMachine(20, noises["bursts"])
	add("improved", Plan{A: m.arm(1), B: m.arm(0.6), Guards: []Guard{{Metric: diagnosis.Elapsed, Limit: 0.05}}, Seed: 3})
	add("inconclusive", Plan{A: m.arm(1), B: m.arm(0.97), Seed: 4})
	add("few", Plan{A: m.arm(1), B: m.arm(1), Pairs: 4, Guards: []Guard{{Metric: diagnosis.P99, Limit: 0}}})
	add("floor", Plan{A: m.arm(1), B: m.arm(0.9), Floor: 0.3, Predicted: &Prediction{Metric: diagnosis.Elapsed, Best: 0.5, Method: "half of it waits"}})
	allocs := func(v float64) Runner {
		return constant(map[diagnosis.Metric]float64{diagnosis.AllocsOp: v, diagnosis.BytesOp: 5000})
	}
	add("from nothing", Plan{CountA: allocs(0), CountB: allocs(1), Primary: diagnosis.AllocsOp})
	busy := func(r Runner) Runner {
		return func(ctx context.Context) (Sample, error) {
			s, err := r(ctx)
			s.Conditions.Others = 0.4
			s.Begin, s.Warnings = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), []string{"the generator was late"}
			return s, err
		}
	}
	add("busy", Plan{A: busy(m.arm(1)), B: busy(m.arm(0.8)), CountA: allocs(3), CountB: allocs(3)})
	return list
}

// What was saved reads back, judges itself the same, and is saved the same.
func TestSavedTrialJudgesTheSame(t *testing.T) {
	for name, trial := range saved(t) {
		var b bytes.Buffer
		if err := trial.Encode(&b); err != nil {
			t.Fatal(err)
		}
		again, err := DecodeTrial(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		was := *again
		again.Effects, again.Conclusion, again.Why, again.Pairs, again.Dropped, again.Looks = nil, "", "", -1, -1, nil
		again.Judge()
		if !sameTrial(trial, again) {
			t.Errorf("%s: Judge() once more has the effects\n%+v, want\n%+v", name, again.Effects, trial.Effects)
		}
		var c bytes.Buffer
		if err := was.Encode(&c); err != nil || !bytes.Equal(b.Bytes(), c.Bytes()) {
			t.Errorf("%s: saved again it is different (%v)", name, err)
		}
	}
}

// sameTrial compares what was judged. JSON has no infinities: they are compared
// as it writes them.
func sameTrial(a, b *Trial) bool {
	effects := func(t *Trial) string {
		out, _ := json.Marshal(t.Effects)
		return string(out)
	}
	return effects(a) == effects(b) && a.Conclusion == b.Conclusion && a.Why == b.Why &&
		a.Pairs == b.Pairs && a.Dropped == b.Dropped && reflect.DeepEqual(a.Looks, b.Looks) &&
		reflect.DeepEqual(a.Warnings, b.Warnings)
}

func TestEffectJSON(t *testing.T) {
	e := Effect{
		Metric: "m", Verdict: Same, A: 1, B: 0, MinA: math.NaN(), MinB: -1, Ratio: math.Inf(1), Low: 0.5,
		High: math.Inf(-1), P: math.NaN(), Pairs: 3, Exact: true, Need: 7, Guarded: true, Broken: true, Unclear: true,
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metric":"m","verdict":"same","a":1,"b":0,"min_a":null,"min_b":-1,"ratio":null,"low":0.5,"high":null,"p":null,` +
		`"pairs":3,"exact":true,"need":7,"guard":0,"broken":true,"unclear":true}`
	if string(b) != want {
		t.Errorf("%s", b)
	}
	var back Effect
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(back.Ratio) || !math.IsNaN(back.P) || back.B != 0 || !back.Guarded || back.Guard != 0 || back.Need != 7 {
		t.Errorf("%s is read as ratio %v, p %v, B %v, guarded %v by %v, need %d, want NaN, NaN, 0, true by 0, 7",
			b, back.Ratio, back.P, back.B, back.Guarded, back.Guard, back.Need)
	}
}

// Values that no ratio can be formed of count as not measured.
func TestStrangeValues(t *testing.T) {
	strange := Sample{
		Values:     map[diagnosis.Metric]float64{"nan": math.NaN(), "inf": math.Inf(1), "minus": -1, "zero": 0},
		Conditions: Conditions{Others: math.NaN(), RunQueue: math.Inf(1)},
		Elapsed:    time.Second, Ops: math.NaN(),
	}
	s := strange.clean(false)
	if want := map[diagnosis.Metric]float64{"zero": 0, diagnosis.Elapsed: 1}; !reflect.DeepEqual(s.Values, want) {
		t.Errorf("%v", s.Values)
	}
	if s.Conditions.Others != -1 || s.Conditions.RunQueue != -1 || s.Ops != 0 {
		t.Errorf("clean() leaves others %v, run queue %v, %v operations, want -1, -1, 0",
			s.Conditions.Others, s.Conditions.RunQueue, s.Ops)
	}
	counted := Sample{Values: map[diagnosis.Metric]float64{diagnosis.P99: 1, diagnosis.AllocsOp: 2}, Elapsed: time.Second}
	if s := counted.clean(true); len(s.Values) != 1 || s.Values[diagnosis.AllocsOp] != 2 {
		t.Errorf("times of a counted run are kept: %v", s.Values)
	}
	if len(strange.Values) != 4 {
		t.Error("the runner's map was changed")
	}
	odd := func(context.Context) (Sample, error) { return strange, nil }
	trial, err := Verify(context.Background(), Plan{A: odd, B: odd, Pairs: 6}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := trial.Encode(new(bytes.Buffer)); err != nil {
		t.Error(err)
	}
}

func TestDecodeTrialErrors(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"not JSON":     "BenchmarkX 1 1 ns/op",
		"another kind": `{"kind":"gowhy load","schema":1}`,
		"a later one":  `{"kind":"gowhy trial","schema":2,"most":40}`,
		"no pairs":     `{"kind":"gowhy trial","schema":1}`,
		"arm":          `{"kind":"gowhy trial","schema":1,"most":40,"rounds":[{"pair":1,"arm":"C"}]}`,
		"guard":        `{"kind":"gowhy trial","schema":1,"most":40,"guards":[{"metric":"p99","limit":-2}]}`,
		"margin":       `{"kind":"gowhy trial","schema":1,"most":40,"margin":-2}`,
		"type":         `{"kind":"gowhy trial","schema":1,"most":"many"}`,
	} {
		_, err := DecodeTrial(strings.NewReader(text))
		if !errors.Is(err, ErrTrial) || !strings.HasPrefix(err.Error(), ErrTrial.Error()+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A trial from anywhere is refused or judged, and can then be saved.
func FuzzDecodeTrial(f *testing.F) {
	for _, trial := range saved(f) {
		trial.Rounds = trial.Rounds[:min(len(trial.Rounds), 16)]
		var b bytes.Buffer
		if err := trial.Encode(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"kind":"gowhy trial","schema":1,"most":1000,"primary":"p99","floor":1e300,"rounds":[{"pair":1,"arm":"A","values":{"p99":1e308}},{"pair":1,"arm":"B","values":{"p99":5e-324}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		trial, err := DecodeTrial(bytes.NewReader(b))
		if err != nil {
			return
		}
		trial.draws = 20
		trial.Judge()
		if err := trial.Encode(new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestInfoOf(t *testing.T) {
	for m, want := range map[diagnosis.Metric]Info{
		"BenchmarkParse/deep-8 ns/op": {Title: "time per operation", Unit: fact.Seconds, Scale: 1e-9, Known: true},
		diagnosis.OpsPerSec:           {Title: "throughput", Unit: fact.PerSec, Scale: 1, More: true, Known: true},
		"BenchmarkParse B/op":         {Title: "bytes allocated per operation", Unit: fact.Bytes, Scale: 1, Counter: true, Known: true},
		"BenchmarkParse rows/s":       {Title: "BenchmarkParse rows/s", Unit: fact.PerSec, Scale: 1, More: true},
		"MB/s":                        {Title: "throughput in megabytes", Unit: fact.PerSec, Scale: 1, More: true, Known: true},
		"misses":                      {Title: "misses", Unit: fact.Count, Scale: 1},
	} {
		if got := InfoOf(m); got != want {
			t.Errorf("InfoOf(%q) = %+v, want %+v", m, got, want)
		}
	}
}

// Every metric that there is stands in the table.
func TestMetricsAreKnown(t *testing.T) {
	for _, m := range []diagnosis.Metric{
		diagnosis.Elapsed, diagnosis.CPUPerOp, diagnosis.OpsPerSec, diagnosis.P50, diagnosis.P99, diagnosis.PeakRSS,
		diagnosis.LiveHeap, diagnosis.AllocsOp, diagnosis.BytesOp, diagnosis.Goroutines, diagnosis.GCPerOp,
		diagnosis.Syscalls, diagnosis.Futexes, diagnosis.Switches, diagnosis.Faults,
	} {
		if !InfoOf(m).Known {
			t.Errorf("%s is not known", m)
		}
		if !slices.Contains(Metrics(), m) {
			t.Errorf("%s is not listed", m)
		}
		if got := InfoOf(m).Scale; got != 1 {
			t.Errorf("%s is shown %v times as large, want as it is", m, got)
		}
	}
	if list := Metrics(); !slices.IsSortedFunc(list, compareMetrics) || len(slices.Compact(list)) != len(metrics) {
		t.Errorf("%v", list)
	}
}
