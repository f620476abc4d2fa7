package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClimb goes through searches offer by offer: each letter is what became of one, sustained (s), failed (f),
// held up by the generator (g), or failed on a busy machine (b); what comes after the last is as the last.
func TestClimb(t *testing.T) {
	repeat := func(n int, rates ...float64) (out []float64) {
		for range n {
			out = append(out, rates...)
		}
		return out
	}
	var far []float64 // down to a thousandth of the first rate
	for k := range 11 {
		far = append(far, repeat(2, 1e6/math.Exp2(float64(k)))...)
	}
	var up []float64
	for k := range maxSteps {
		up = append(up, math.Exp2(float64(k)))
	}
	for _, tt := range []struct {
		name      string
		search    CapacitySearch
		script    string
		rates     []float64
		low, high float64
		limit     Limit
		dropped   int
		warning   string
	}{
		{name: "twice too much", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sffs",
			rates: []float64{100, 200, 200, 100}, low: 100, high: 200, limit: ByErrors},
		{name: "two of three too much", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sfsfs",
			rates: []float64{100, 200, 200, 200, 100}, low: 100, high: 200, limit: ByErrors},
		{name: "two of three sustained", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sfssffs",
			rates: []float64{100, 200, 200, 200, 400, 400, 200}, low: 200, high: 400, limit: ByErrors},
		{name: "the low end after all", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sfffs",
			rates: []float64{100, 200, 200, 100, 100}, low: 100, high: 200, limit: ByErrors},
		{name: "not the low end after all", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sffffss",
			rates: []float64{100, 200, 200, 100, 100, 50, 50}, low: 50, high: 100, limit: ByErrors},
		{name: "the low end before", search: CapacitySearch{From: 100, Tolerance: 1}, script: "ssffffs",
			rates: []float64{100, 200, 400, 400, 200, 200, 100}, low: 100, high: 200, limit: ByErrors},
		{name: "the bracket is halved", search: CapacitySearch{From: 100, Tolerance: 0.5}, script: "sffss",
			rates: []float64{100, 200, 200, math.Sqrt(100 * 200), math.Sqrt(100 * 200)}, low: math.Sqrt(100 * 200), high: 200, limit: ByErrors},
		{name: "all that may be offered", search: CapacitySearch{From: 100, Most: 150}, script: "s",
			rates: []float64{100, 150}, low: 150},
		{name: "the most is the first", search: CapacitySearch{From: 100, Most: 100}, script: "s", rates: []float64{100}, low: 100},
		{name: "the most that a number can be", search: CapacitySearch{From: math.MaxFloat64, Most: math.MaxFloat64}, script: "s",
			rates: []float64{math.MaxFloat64}, low: math.MaxFloat64},
		{name: "too much at the most", search: CapacitySearch{From: 100, Most: 150, Tolerance: 0.5}, script: "sffs",
			rates: []float64{100, 150, 150, 100}, low: 100, high: 150, limit: ByErrors},
		{name: "too few operations to look below", search: CapacitySearch{From: 4}, script: "f",
			rates: []float64{4, 4, 2, 2, 1, 1}, high: 1, limit: ByErrors},
		{name: "too far below the first", search: CapacitySearch{From: 1e6}, script: "f", rates: far, high: 1e6 / 1024, limit: ByErrors},
		{name: "the generator", search: CapacitySearch{From: 100}, script: "sgg",
			rates: []float64{100, 200, 200}, low: 100, limit: ByGenerator},
		{name: "the generator, at the low end", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sffgg",
			rates: []float64{100, 200, 200, 100, 100}, low: 100, high: 200, limit: ByErrors},
		{name: "without an end", search: CapacitySearch{From: 1}, script: "s", rates: up, low: up[maxSteps-1], warning: "given up after 80 steps"},
		{name: "busy once", search: CapacitySearch{From: 100, Tolerance: 1}, script: "sbffs",
			rates: []float64{100, 200, 200, 200, 100}, low: 100, high: 200, limit: ByErrors, dropped: 1},
		{name: "busy for long", search: CapacitySearch{From: 8}, script: "b",
			rates: slices.Concat(repeat(6, 8), repeat(6, 4), repeat(2, 2), repeat(2, 1)), high: 1, limit: ByErrors,
			dropped: maxBusySteps, warning: "the machine was busy with other programs again and again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rates []float64
			tt.search.Offer = func(_ context.Context, rate float64, d time.Duration) (Offered, error) {
				if d != defaultStep {
					t.Errorf("a rate is offered for %s, want %s", d, defaultStep)
				}
				o := Offered{Done: rate}
				switch tt.script[min(len(rates), len(tt.script)-1)] {
				case 'f':
					o.Failed = 1
				case 'g':
					o.Generator = "it had one CPU"
				case 'b':
					o.Failed, o.Conditions.Others = 1, 0.5
				}
				rates = append(rates, rate)
				return o, nil
			}
			r, err := Capacity(t.Context(), tt.search, nil)
			if err != nil {
				t.Fatal(err)
			}
			allNear(t, "rates", rates, tt.rates)
			if !near(r.Low, tt.low) || !near(r.High, tt.high) || r.Limit != tt.limit || r.Dropped != tt.dropped {
				t.Errorf("the result is %v to %v, by %q, %d dropped; want %v to %v, by %q, %d dropped",
					r.Low, r.High, r.Limit, r.Dropped, tt.low, tt.high, tt.limit, tt.dropped)
			}
			if got := strings.Join(r.Warnings, "\n"); !strings.HasPrefix(got, tt.warning) || (got == "") != (tt.warning == "") || strings.Contains(got, "\n") {
				t.Errorf("warnings are %q, want %q", got, tt.warning)
			}
		})
	}
}

// What ends a rate is the first of several that would; at its bound none does.
func TestJudgeOfStep(t *testing.T) {
	s := &CapacitySearch{P99: time.Second, Failed: 0.1}
	all := Offered{Rate: 100, Done: 10, Failed: 0.2, P99: 2 * time.Second, Generator: "it had one CPU"}
	for _, tt := range []struct {
		change func()
		want   Limit
	}{
		{func() {}, ByGenerator},
		{func() { all.Generator = "" }, ByErrors},
		{func() { all.Failed = 0.1 }, ByBacklog},
		{func() { all.Done = 90 }, ByLatency},
		{func() { all.P99 = time.Second }, ""},
		{func() { all.P99, s.P99 = 2*time.Second, 0 }, ""},
	} {
		tt.change()
		if got, _ := s.judge(&all); got != tt.want {
			t.Errorf("judge(%+v) = %q, want %q", all, got, tt.want)
		}
	}
}

// The last step at a rate that counted, of those that were sustained or of those that were not.
func TestStepAt(t *testing.T) {
	r := &CapacityResult{Steps: []Step{
		{Offered: Offered{Rate: 100, Done: 1}},
		{Offered: Offered{Rate: 100, Done: 2}},
		{Offered: Offered{Rate: 100, Done: 3}, Limit: ByErrors},
		{Offered: Offered{Rate: 100, Done: 4}, Limit: ByErrors, Dropped: "busy"},
		{Offered: Offered{Rate: 200, Done: 5}},
	}}
	for _, tt := range []struct {
		rate      float64
		sustained bool
		want      float64 // done; 0 for none
	}{{100, true, 2}, {100, false, 3}, {200, true, 5}, {200, false, 0}, {300, true, 0}} {
		got := 0.0
		if s := r.At(tt.rate, tt.sustained); s != nil {
			got = s.Done
		}
		if got != tt.want {
			t.Errorf("At(%v, %v) is the step with %v done, want %v", tt.rate, tt.sustained, got, tt.want)
		}
	}
}

// Before each step it is told which one it is, at what rate, and between which rates the limit is known to be.
func TestCapacityProgress(t *testing.T) {
	failed := map[int]bool{1: true, 2: true}
	steps := 0
	offer := func(_ context.Context, rate float64, _ time.Duration) (Offered, error) {
		o := Offered{Done: rate}
		if failed[steps] {
			o.Failed = 1
		}
		steps++
		return o, nil
	}
	var got []string
	s := CapacitySearch{Offer: offer, From: 100, Tolerance: 1}
	r, err := Capacity(t.Context(), s, func(step int, rate float64, bracket [2]float64) {
		got = append(got, fmt.Sprint(step, rate, bracket))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0 100 [0 0]", "1 200 [100 0]", "2 200 [100 0]", "3 100 [100 200]"}
	if !slices.Equal(got, want) {
		t.Errorf("progress is %q, want %q", got, want)
	}
	if r.Schema != 1 || r.Tolerance != 1 {
		t.Errorf("the result has version %d and tolerance %v, want 1 and 1", r.Schema, r.Tolerance)
	}
}

// An interrupt is what Capacity returns, whatever the offer that it ended says; a failure without one is itself.
func TestInterruptedOffer(t *testing.T) {
	killed := errors.New("signal: killed")
	for name, interrupted := range map[string]bool{"interrupted": true, "failed": false} {
		ctx, cancel := context.WithCancel(t.Context())
		offer := func(context.Context, float64, time.Duration) (Offered, error) {
			if interrupted {
				cancel()
			}
			return Offered{}, killed
		}
		_, err := Capacity(ctx, CapacitySearch{Offer: offer, From: 100}, nil)
		cancel()
		if errors.Is(err, context.Canceled) != interrupted || errors.Is(err, killed) == interrupted {
			t.Errorf("%s: Capacity returns %v", name, err)
		}
	}
}
