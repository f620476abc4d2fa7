package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

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
	got, err := DecodeTuned(strings.NewReader(`{"schema":1,"start":{},"chosen":{},"curves":[{"points":[{"value":4},{"value":2}]}]}`))
	if err != nil || len(got.Curves) != 1 || got.Curves[0].Points[0].Value != 2 {
		t.Errorf("DecodeTuned: %+v, %v, want the points in order", got, err)
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
