package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Each flag of an effect is read back as what it was, alone.
func TestEffectFlags(t *testing.T) {
	for name, e := range map[string]Effect{
		"exact": {Exact: true}, "broken": {Broken: true}, "unclear": {Unclear: true}, "need": {Need: 3}, "pairs": {Pairs: 4},
		"open": {Open: "only 1 pair"}, "guard": {Guarded: true, Guard: 0.3}, "metric": {Metric: diagnosis.P99, Verdict: Improved},
		"numbers": {A: 1, B: 2, MinA: 3, MinB: 4, Ratio: 5, Low: 6, High: 7, P: 8},
	} {
		b, err := json.Marshal(e)
		var back Effect
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != e {
			t.Errorf("%s: read back as %+v (%v), want %+v", name, back, err, e)
		}
	}
}

// Infinite ends are null, and come back as the end they are.
func TestIntervalJSON(t *testing.T) {
	for want, i := range map[string]Interval{
		`{"value":2,"low":1,"high":3}`:          {2, 1, 3},
		`{"value":2,"low":null,"high":null}`:    {2, math.Inf(-1), math.Inf(1)},
		`{"value":null,"low":null,"high":null}`: {math.Inf(1), math.Inf(-1), math.Inf(1)},
	} {
		b, err := json.Marshal(i)
		if err != nil || string(b) != want {
			t.Errorf("%v is %s (%v), want %s", i, b, err, want)
		}
		var back Interval
		if err := json.Unmarshal(b, &back); err != nil || back != i {
			t.Errorf("%s reads as %v (%v), want %v", b, back, err, i)
		}
	}
	if err := json.Unmarshal([]byte(`{"value":"much"}`), new(Interval)); err == nil {
		t.Error("a word reads as an interval")
	}
}

func TestDecodeTunedErrors(t *testing.T) {
	points := strings.TrimSuffix(strings.Repeat(`{"value":1},`, maxSavedPoints+1), ",")
	for text, want := range map[string]string{
		`{`:                                   "unexpected EOF",
		`{"schema":2,"start":{},"chosen":{}}`: "it has version 2, and only version 1 is known",
		`{"schema":1,"chosen":{}}`:            "it has no settings",
		`{"schema":1,"start":{}}`:             "it has no settings",
		`{"schema":1,"start":{},"chosen":{},"curves":[{"points":[` + points + `]}]}`: fmt.Sprintf("a curve of it has %d points", maxSavedPoints+1),
	} {
		if _, err := DecodeTuned(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("DecodeTuned(%.40s): %v, want %s", text, err, want)
		}
	}
	most := strings.TrimSuffix(strings.Repeat(`{"value":1},`, maxSavedPoints), ",")
	for points, first := range map[string]float64{`{"value":3},{"value":2}`: 2, `{"value":2},{"value":3}`: 2, most: 1} {
		got, err := DecodeTuned(strings.NewReader(`{"schema":1,"start":{},"chosen":{},"curves":[{"points":[` + points + `]}]}`))
		if err != nil || len(got.Curves) != 1 || got.Curves[0].Points[0].Value != first {
			t.Errorf("DecodeTuned of points %.40s: %v, want the points in order", points, err)
		}
	}
}

// What a trial from elsewhere may hold, to its edges.
func TestTrialBounds(t *testing.T) {
	rounds := func(n int) []Round {
		list := make([]Round, n)
		for i := range list {
			list[i].Arm = "A"
		}
		return list
	}
	metrics := func(n int) []Round {
		v := values{}
		for i := range n {
			v[diagnosis.Metric(fmt.Sprint("m", i))] = 1
		}
		return []Round{{Arm: "A", Sample: Sample{Values: v}}, {Arm: "B", Sample: Sample{Values: v}}}
	}
	for _, tt := range []struct {
		name  string
		trial Trial
		want  string // empty for none
	}{
		{"one pair", Trial{Most: 1}, ""},
		{"as many pairs as can be", Trial{Most: MaxPairs}, ""},
		{"no pair", Trial{}, "0 pairs planned, not 1 to 1000"},
		{"more pairs", Trial{Most: MaxPairs + 1}, "1001 pairs planned, not 1 to 1000"},
		{"as many rounds as can be", Trial{Most: 1, Rounds: rounds(maxRounds)}, ""},
		{"more rounds", Trial{Most: 1, Rounds: rounds(maxRounds + 1)}, "more than 8016 rounds"},
		{"as many metrics as can be", Trial{Most: 1, Rounds: metrics(maxMetrics)}, ""},
		{"more metrics", Trial{Most: 1, Rounds: metrics(maxMetrics + 1)}, "more than 1000 metrics"},
		{"a margin below none", Trial{Most: 1, Margin: -0.1}, "margin or noise floor is negative"},
		{"noise below none", Trial{Most: 1, Floor: -0.1}, "margin or noise floor is negative"},
		{"a third arm", Trial{Most: 1, Rounds: []Round{{Arm: "A"}, {Arm: "C"}}}, `round 1 is of arm "C"`},
		{"a limit below none", Trial{Most: 1, Guards: []Guard{{Metric: diagnosis.P99, Limit: -1}}}, "the guard p99 has a negative limit"},
		{"a least below none", Trial{Most: 1, Guards: []Guard{{Metric: diagnosis.P99, Least: -1}}}, "the guard p99 has a negative limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.trial.check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("check() = %q, want %q", got, tt.want)
			}
		})
	}
}

// A metric is measured when both arms have it from runs of one kind.
func TestMeasured(t *testing.T) {
	for _, tt := range []struct {
		name  string
		where [][2]any // arm, counted
		want  bool
	}{
		{"nowhere", nil, false},
		{"timed in both", [][2]any{{"A", false}, {"B", false}}, true},
		{"counted in both", [][2]any{{"A", true}, {"B", true}}, true},
		{"timed in one", [][2]any{{"A", false}}, false},
		{"counted in A alone", [][2]any{{"A", true}}, false},
		{"counted in B alone", [][2]any{{"B", true}}, false},
		{"timed in A, counted in B", [][2]any{{"A", false}, {"B", true}}, false},
		{"timed in B, counted in A", [][2]any{{"B", false}, {"A", true}}, false},
		{"counted in both, timed in one", [][2]any{{"A", true}, {"B", true}, {"A", false}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := &Trial{}
			for _, w := range tt.where {
				trial.Rounds = append(trial.Rounds, Round{Arm: w[0].(string), Count: w[1].(bool), Sample: Sample{Values: values{diagnosis.P99: 1}}})
			}
			list := "none"
			if tt.want {
				list = "p99"
			}
			if got := trial.measured(diagnosis.P99); got != tt.want || trial.measuredList() != list {
				t.Errorf("measured = %v, listed %q, want %v", got, trial.measuredList(), tt.want)
			}
		})
	}
}

// A document says first what it is, and is indented for those who read it.
func TestDocumentsSayWhatTheyAre(t *testing.T) {
	for kind, write := range map[string]func(io.Writer) error{
		"gowhy trial":          (&Trial{}).Encode,
		"gowhy tune":           (&Tuned{Schema: TunedSchema}).Encode,
		"gowhy capacity":       (&CapacityResult{Schema: CapacitySchema}).Encode,
		"gowhy capacity table": (&CapacityTable{Schema: CapacitySchema}).Encode,
	} {
		var b bytes.Buffer
		want := "{\n  \"kind\": \"" + kind + "\",\n  \"schema\": 1,\n  \""
		if err := write(&b); err != nil || !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), "\n}\n") {
			t.Errorf("%s is written as %q (%v), want %q first and a brace on a line of its own last", kind, b.String(), err, want)
		}
	}
}

// A document is read up to 64 MiB, when it is of the kind and the version.
func TestDecodeSaved(t *testing.T) {
	const text = `{"kind":"k","schema":3,"n":7}`
	for _, tt := range []struct {
		name   string
		in     io.Reader
		kind   string
		schema int
		want   string // empty for none
	}{
		{"as it is", strings.NewReader(text), "k", 3, ""},
		{"as large as can be", strings.NewReader(text + strings.Repeat(" ", 64<<20-len(text))), "k", 3, ""},
		{"larger", strings.NewReader(text + strings.Repeat(" ", 64<<20-len(text)+1)), "k", 3, "larger than 64 MiB"},
		{"another kind", strings.NewReader(text), "l", 3, `kind "k", schema 3; wanted "l", 3`},
		{"another version", strings.NewReader(text), "k", 2, `kind "k", schema 3; wanted "k", 2`},
		{"no document", strings.NewReader("k"), "k", 3, "invalid character 'k' looking for beginning of value"},
		{"what cannot be read", iotest.ErrReader(errors.New("no such disk")), "k", 3, "no such disk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v struct{ N int }
			got := ""
			if err := DecodeSaved(tt.in, tt.kind, tt.schema, &v); err != nil {
				got = err.Error()
			}
			if got != tt.want || (v.N == 7) != (tt.want == "") {
				t.Errorf("DecodeSaved reads %d: %q, want %q", v.N, got, tt.want)
			}
		})
	}
}

// A search is read up to 64 MiB: what is cut off there has no end.
func TestDecodeTunedSize(t *testing.T) {
	const text = `{"schema":1,"start":{},"chosen":{}}`
	for more, want := range map[int]string{0: "", 1: "unexpected EOF"} {
		got := ""
		if _, err := DecodeTuned(strings.NewReader(strings.Repeat(" ", 64<<20-len(text)+more) + text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("DecodeTuned of 64 MiB and %d = %q, want %q", more, got, want)
		}
	}
}

// A search that is read back says the same of its runs, by its seed.
func TestDecodeTunedSaysTheSame(t *testing.T) {
	m := &simulation{noise: 0.05, seconds: func(s Setting) float64 { return law(1, 0.02, 0.0005)(s) + 0.1*math.Abs(s["batch"]-2) }}
	got := m.tune(t, Search{Seed: 5, Keep: []Keep{{diagnosis.P99, 0.3, true}}, Knobs: []Knob{
		{Name: "workers", Low: 1, High: 64, Integer: true, Start: 2, Counts: Concurrent},
		{Name: "batch", Values: []float64{1, 2}, Start: 1},
	}})
	if got.Schema != 1 || got.Seed != 5 || got.Together == nil || got.Curves[0].USL == nil {
		t.Fatalf("the search has version %d, seed %d, together %v, a law %v",
			got.Schema, got.Seed, got.Together != nil, got.Curves[0].USL != nil)
	}
	if seed, margin := got.Together.Seed, got.Together.Margin; seed != 5 || margin != 0.03 {
		t.Errorf("the check of all together has seed %d and margin %v, want 5 and 0.03", seed, margin)
	}
	var was, is bytes.Buffer
	if err := got.Encode(&was); err != nil {
		t.Fatal(err)
	}
	back, err := DecodeTuned(bytes.NewReader(was.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Encode(&is); err != nil || is.String() != was.String() {
		t.Errorf("read back it is different (%v):\n%s\nwas\n%s", err, is.String(), was.String())
	}
}

// A prediction is saved as it is, without what JSON has no number for, and stays in the trial as it was.
func TestSavedPrediction(t *testing.T) {
	inf, most := math.Inf(1), math.MaxFloat64
	for _, tt := range []struct{ best, estimate, wantBest, wantEstimate float64 }{
		{0.5, 0.75, 0.5, 0.75},
		{nan, 0.75, 0, 0.75},
		{0.5, inf, 0.5, 0},
		{-inf, nan, 0, 0},
		{most, -most, most, -most},
	} {
		trial := &Trial{Most: 40, Predicted: &Prediction{diagnosis.P99, tt.best, "waits", tt.estimate, "trace"}}
		var b bytes.Buffer
		if err := trial.Encode(&b); err != nil {
			t.Fatal(err)
		}
		back, err := DecodeTrial(&b)
		if err != nil {
			t.Fatal(err)
		}
		want := Prediction{diagnosis.P99, tt.wantBest, "waits", tt.wantEstimate, "trace"}
		if *back.Predicted != want {
			t.Errorf("saved prediction of %v and %v = %v, want %v", tt.best, tt.estimate, *back.Predicted, want)
		}
		if was := trial.Predicted.Best; was != tt.best && !math.IsNaN(tt.best) {
			t.Errorf("the trial's own prediction became %v, want %v", was, tt.best)
		}
	}
}

// What a run measured is kept as it is where ratios can be formed of it.
func TestCleanKeeps(t *testing.T) {
	as := Conditions{Others: 0.5, Steal: 0.25, Pressure: 0.125, RunQueue: math.MaxFloat64}
	for _, tt := range []struct {
		name    string
		values  values
		elapsed time.Duration
		counted bool
		want    values
	}{
		{"the greatest", values{"n": math.MaxFloat64, "zero": 0}, 0, false, values{"n": math.MaxFloat64, "zero": 0}},
		{"a duration", values{"n": 1}, 2 * time.Second, false, values{"n": 1, diagnosis.Elapsed: 2}},
		{"a duration that was stated", values{diagnosis.Elapsed: 3}, 2 * time.Second, false, values{diagnosis.Elapsed: 3}},
		{"of a counted run", values{"n": 1, diagnosis.Elapsed: 3}, 2 * time.Second, true, values{"n": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Sample{Values: tt.values, Elapsed: tt.elapsed, Ops: 7, Conditions: as}.clean(tt.counted)
			if !maps.Equal(s.Values, tt.want) || s.Ops != 7 || s.Conditions != as {
				t.Errorf("clean(%v) = %v, %v operations, %v, want %v, 7, %v", tt.counted, s.Values, s.Ops, s.Conditions, tt.want, as)
			}
		})
	}
	if s := (Sample{Ops: -3}).clean(false); s.Ops != 0 {
		t.Errorf("clean leaves %v operations, want 0", s.Ops)
	}
}
