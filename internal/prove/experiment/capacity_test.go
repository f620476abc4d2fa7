package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A server is an M/M/1 queue in discrete time: what arrives and what is done in
// a tick are Poisson.
type server struct {
	limit  float64 // operations a second
	random *rand.Rand
	noise  float64 // of the limit, from step to step
	steps  int
}

func (s *server) offer(_ context.Context, rate float64, d time.Duration) (Offered, error) {
	s.steps++
	const tick = 0.1
	limit := s.limit * math.Exp(s.noise*s.random.NormFloat64())
	queue, done := 0.0, 0.0
	o := Offered{Rate: rate, Sent: rate}
	for at := 0.0; at < d.Seconds(); at += tick {
		queue += s.poisson(rate * tick)
		can := min(queue, s.poisson(limit*tick))
		queue, done = queue-can, done+can
		o.Backlog = append(o.Backlog, model.Point{At: time.Duration(at * 1e9), Value: queue})
	}
	o.Done = done / d.Seconds()
	o.P99 = time.Duration(1e9 * (queue + 5) / limit)
	return o, nil
}

func (s *server) poisson(mean float64) float64 {
	return max(0, math.Round(mean+math.Sqrt(mean)*s.random.NormFloat64()))
}

func TestCapacityOfKnownLimit(t *testing.T) {
	const seeds = 100
	random := rand.New(rand.NewPCG(1, 2))
	good, most := 0, 0
	for range seeds {
		limit := math.Exp(math.Log(50) + random.Float64()*math.Log(1000))
		s := &server{limit: limit, random: random, noise: 0.01}
		r, err := Capacity(t.Context(), CapacitySearch{Offer: s.offer, From: 10, Step: 20 * time.Second}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.High/r.Low > 1+r.Tolerance || r.Limit != ByBacklog {
			t.Fatalf("limit %.4g: between %.4g and %.4g by %q", limit, r.Low, r.High, r.Limit)
		}
		if r.Low <= limit*1.05 && r.High >= limit/1.05 {
			good++
		}
		most = max(most, s.steps)
	}
	if good < seeds*95/100 {
		t.Errorf("%d of %d brackets are within 5%% of the limit", good, seeds)
	}
	if most > 40 {
		t.Errorf("a search took %d steps", most)
	}
}

// steady returns a server without noise.
func steady(limit float64, rest func(*Offered)) Offer {
	return func(_ context.Context, rate float64, d time.Duration) (Offered, error) {
		o := Offered{Rate: rate, Sent: rate, Done: min(rate, limit), P99: time.Millisecond}
		for at := range 40 {
			at := time.Duration(at) * d / 40
			o.Backlog = append(o.Backlog, model.Point{At: at, Value: 3 + max(0, rate-limit)*at.Seconds()})
		}
		if rest != nil {
			rest(&o)
		}
		return o, nil
	}
}

func TestCapacityLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		search CapacitySearch
		limit  Limit
		within [2]float64 // Low at least, High at most; 0 is 0
		why    string
	}{
		{"backlog", CapacitySearch{Offer: steady(100, nil), From: 10}, ByBacklog, [2]float64{95, 106}, "backlog grew"},
		{"downwards", CapacitySearch{Offer: steady(100, nil), From: 5000}, ByBacklog, [2]float64{95, 106}, "backlog grew"},
		{"latency", CapacitySearch{Offer: steady(1e9, func(o *Offered) {
			if o.Rate > 300 {
				o.P99 = 80 * time.Millisecond
			}
		}), From: 10, P99: 50 * time.Millisecond}, ByLatency, [2]float64{285, 316}, "80.0 ms"},
		{"errors", CapacitySearch{Offer: steady(1e9, func(o *Offered) {
			if o.Rate > 300 {
				o.Failed = 0.02
			}
		}), From: 10, Failed: 0.01}, ByErrors, [2]float64{285, 316}, "2.0% of the operations failed"},
		{"generator", CapacitySearch{Offer: steady(1e9, func(o *Offered) {
			if o.Rate > 300 {
				o.Generator = "its CPUs were full"
			}
		}), From: 10}, ByGenerator, [2]float64{160, 0}, "its CPUs were full"},
		{"most", CapacitySearch{Offer: steady(1e9, nil), From: 10, Most: 1000}, "", [2]float64{1000, 0}, "no rate"},
		{"nothing", CapacitySearch{Offer: steady(0.001, nil), From: 10}, ByBacklog, [2]float64{0, 1.3}, "backlog grew"},
		{"short", CapacitySearch{Offer: steady(100, func(o *Offered) { o.Backlog = nil }), From: 10}, ByBacklog, [2]float64{95, 120}, "were done"},
	} {
		r, err := Capacity(t.Context(), c.search, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Limit != c.limit || r.Low < c.within[0] || r.High > c.within[1] || (c.within[1] == 0) != (r.High == 0) || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %v to %v by %q: %s", c.name, r.Low, r.High, r.Limit, r.Why)
		}
		var b bytes.Buffer
		var back CapacityResult
		if err := r.Encode(&b); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Low != r.Low || len(back.Steps) != len(r.Steps) {
			t.Errorf("%s: read back as from %v in %d steps, %v, want from %v in %d",
				c.name, back.Low, len(back.Steps), err, r.Low, len(r.Steps))
		}
	}
}

// One bad step may be a neighbour, and so may be one that other programs
// disturbed: neither moves the bracket.
func TestCapacityMeasuresBadStepsAgain(t *testing.T) {
	step := 0
	offer := func(bad func(step int, o *Offered)) Offer {
		step = 0
		return steady(100, func(o *Offered) { step++; bad(step, o) })
	}
	once := offer(func(step int, o *Offered) {
		if step == 2 {
			o.Failed = 1
		}
	})
	r, err := Capacity(t.Context(), CapacitySearch{Offer: once, From: 10}, nil)
	if err != nil || r.Low < 95 || r.High > 106 {
		t.Errorf("one bad step: %v to %v, %v", r.Low, r.High, err)
	}
	busy := offer(func(step int, o *Offered) {
		if step == 2 || step == 3 {
			o.Failed, o.Conditions.Others = 1, 0.5
		}
	})
	r, err = Capacity(t.Context(), CapacitySearch{Offer: busy, From: 10}, nil)
	if err != nil || r.Low < 95 || r.High > 106 || r.Dropped != 2 {
		t.Errorf("two disturbed steps: %v to %v, %d dropped, %v", r.Low, r.High, r.Dropped, err)
	}
}

// A lower end that is not sustained when it is offered again is none.
func TestCapacityConfirmsTheLowEnd(t *testing.T) {
	limit, steps := 100.0, 0
	offer := func(ctx context.Context, rate float64, d time.Duration) (Offered, error) {
		if steps++; steps > 12 {
			limit = 80 // the program has grown slower
		}
		return steady(limit, nil)(ctx, rate, d)
	}
	r, err := Capacity(t.Context(), CapacitySearch{Offer: offer, From: 10}, nil)
	if err != nil || r.Low > 80.8 || r.Low < 76 || r.High/r.Low > 1.05 {
		t.Errorf("%v to %v after %d steps, %v", r.Low, r.High, steps, err)
	}
}

func TestCapacityEnds(t *testing.T) {
	broken := errors.New("cannot start")
	fail := func(context.Context, float64, time.Duration) (Offered, error) { return Offered{}, broken }
	if _, err := Capacity(t.Context(), CapacitySearch{Offer: fail, From: 1}, nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Capacity(ctx, CapacitySearch{Offer: steady(100, nil), From: 10}, func(step int, _ float64, _ [2]float64) {
		if step == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: Capacity() = %v, want %v", err, context.Canceled)
	} else if len(r.Steps) == 0 || r.Low == 0 {
		t.Errorf("interrupted: Capacity() = from %v in %d steps, want from some rate in some", r.Low, len(r.Steps))
	}
	for _, s := range []CapacitySearch{{}, {Offer: fail}, {Offer: fail, From: math.NaN()}, {Offer: fail, From: math.Inf(1)}, {Offer: fail, From: 10, Most: 5}} {
		if _, err := Capacity(t.Context(), s, nil); err == nil || errors.Is(err, broken) {
			t.Errorf("Capacity() from %v to %v: error %v, want that the search is wrong", s.From, s.Most, err)
		}
	}
	random := rand.New(rand.NewPCG(5, 5))
	wild := func(context.Context, float64, time.Duration) (Offered, error) {
		return Offered{Failed: float64(random.IntN(2))}, nil
	}
	if r, err := Capacity(t.Context(), CapacitySearch{Offer: wild, From: 10, Tolerance: 1e-6}, nil); err != nil || len(r.Steps) > maxSteps {
		t.Errorf("wild: %d steps, %v", len(r.Steps), err)
	}
}

func cells(axes [2]string, figures map[[2]float64]float64) (list []Cell) {
	for at, rate := range figures {
		list = append(list, Cell{Setting: Setting{axes[0]: at[0], axes[1]: at[1]}, Rate: rate})
	}
	return list
}

func TestConclude(t *testing.T) {
	axes := [2]string{Processes, "concurrency"}
	for name, c := range map[string]struct {
		figures map[[2]float64]float64
		shapes  string
		where   string
	}{
		// The rule engine of the case study, in thousands of messages a second.
		"S1": {map[[2]float64]float64{{1, 1}: 1.7, {1, 5}: 1.8, {1, 10}: 1.8, {2, 1}: 3.5},
			"linear flat", "a serial stage in each process"},
		"S1 today": {map[[2]float64]float64{{1, 1}: 825, {1, 5}: 793, {1, 10}: 772, {2, 1}: 1640, {2, 10}: 1590},
			"linear flat", "a serial stage in each process"},
		"the stage itself": {map[[2]float64]float64{{1, 1}: 100, {1, 5}: 480, {1, 10}: 950, {2, 1}: 200},
			"linear linear", "the stage that concurrency multiplies"},
		"until five": {map[[2]float64]float64{{1, 1}: 100, {1, 5}: 480, {1, 10}: 520},
			"unknown partial", "first the stage that concurrency multiplies"},
		"shared":        {map[[2]float64]float64{{1, 1}: 100, {1, 5}: 104, {2, 1}: 101}, "flat flat", "outside the processes"},
		"one process":   {map[[2]float64]float64{{1, 1}: 100, {1, 5}: 104}, "unknown flat", "not the stage that concurrency multiplies"},
		"only copies":   {map[[2]float64]float64{{1, 1}: 100, {4, 1}: 390}, "linear unknown", "inside each process"},
		"copies shared": {map[[2]float64]float64{{1, 1}: 100, {4, 1}: 99}, "flat unknown", "outside the processes"},
		"lock convoy":   {map[[2]float64]float64{{1, 1}: 100, {1, 10}: 60, {2, 1}: 195}, "linear falling", "a serial stage in each process"},
		"depends":       {map[[2]float64]float64{{1, 1}: 100, {1, 10}: 101, {2, 1}: 100, {2, 10}: 900}, "mixed mixed", "different from setting"},
		"one cell":      {map[[2]float64]float64{{1, 1}: 100}, "unknown unknown", "unclear"},
		"nothing":       {nil, "unknown unknown", "unclear"},
	} {
		got := Conclude(axes[:], cells(axes, c.figures))
		if shapes := string(got.Shapes[0].Shape + " " + got.Shapes[1].Shape); shapes != c.shapes {
			t.Errorf("%s: %s", name, shapes)
		}
		if !strings.HasPrefix(got.Where, c.where) || got.Why == "" {
			t.Errorf("%s: %s because %s", name, got.Where, got.Why)
		}
	}
	until := Conclude(axes[:], cells(axes, map[[2]float64]float64{{1, 1}: 100, {1, 5}: 480, {1, 10}: 520}))
	if until.Shapes[1].LinearUpTo != 5 || !strings.Contains(until.Why, "concurrency=5") {
		t.Errorf("linear up to %v: %s", until.Shapes[1].LinearUpTo, until.Why)
	}
}

// What the generator limited says nothing of the program.
// Figures that contradict each other say nothing of a program when the machine
// was busy.
func TestConcludeOnABusyMachine(t *testing.T) {
	axes := [2]string{Processes, "concurrency"}
	list := cells(axes, map[[2]float64]float64{{1, 1}: 994, {1, 10}: 994, {2, 1}: 1822, {2, 10}: 1600})
	if got := Conclude(axes[:], list); got.Shapes[0].Shape != Mixed || strings.Contains(got.Why, "busy") {
		t.Errorf("quiet: Conclude() = shape %s: %s, want %s, not busy", got.Shapes[0].Shape, got.Why, Mixed)
	}
	list[len(list)-1].Search, list[len(list)-1].Limit = &CapacityResult{Dropped: maxBusySteps}, ByBacklog
	if got := Conclude(axes[:], list); !strings.Contains(got.Where, "unclear") || !strings.Contains(got.Why, "1 of 4") {
		t.Errorf("busy: Conclude() = %s: %s, want it unclear, as 1 of 4 were", got.Where, got.Why)
	}
}

func TestConcludeLeavesTheGeneratorOut(t *testing.T) {
	list := []Cell{{Setting: Setting{"workers": 1}, Rate: 1000, Limit: ByGenerator}, {Setting: Setting{"workers": 8}, Rate: 1000, Limit: ByGenerator}}
	if got := Conclude([]string{"workers"}, list); got.Shapes[0].Shape != Unknown || !strings.Contains(got.Why, "2 of 2 cells are not decided") {
		t.Errorf("Conclude() = shape %s: %s, want %s, as 2 of 2 cells are not decided",
			got.Shapes[0].Shape, got.Why, Unknown)
	}
	// Nor does a search that ended before anything was too much.
	list = []Cell{{Setting: Setting{"workers": 1}, Rate: 1000, Limit: ByBacklog}, {Setting: Setting{"workers": 8}, Rate: 1000, Search: &CapacityResult{}}}
	if got := Conclude([]string{"workers"}, list); got.Shapes[0].Shape != Unknown || !strings.Contains(got.Why, "1 of 2") {
		t.Errorf("Conclude() = shape %s: %s, want %s, as 1 of 2 cells is not decided",
			got.Shapes[0].Shape, got.Why, Unknown)
	}
}
