package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A value between two others, on the log scale, in whole units of its kind; none where they are close.
func TestInside(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		knob        Knob
		a, b, share float64
		want        float64 // 0 for none
	}{
		{Knob{}, 1, 4, 0.5, 2},
		{Knob{}, 4, 1, 0.25, 4 / math.Sqrt2},
		{Knob{}, 1, closeEnough, 0.5, 0},
		{Knob{}, 0, 4, 0.5, 0},
		{Knob{Integer: true}, 10, 40, 0.5, 20},
		{Knob{Integer: true}, 3, 5, 0.01, 4},
		{Knob{Integer: true}, 3, 5, 0.99, 4},
		{Knob{Integer: true}, 1, 2, 0.5, 0},
		{Knob{Integer: true, Bytes: true}, 64 * mib, 256 * mib, 0.4, 111 * mib},
		{Knob{Bytes: true}, 4096, 4 * 4096, 0.5, 8192},
	} {
		got, ok := tt.knob.inside(tt.a, tt.b, tt.share)
		if ok != (tt.want > 0) || ok && math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%+v: inside(%v, %v, %v) = %v, %v, want %v", tt.knob, tt.a, tt.b, tt.share, got, ok, tt.want)
		}
	}
}

func TestKnobFormat(t *testing.T) {
	for _, tt := range []struct {
		knob Knob
		v    float64
		want string
	}{
		{Knob{Integer: true}, 3.6, "4"},
		{Knob{Bytes: true}, 64 << 20, "67108864"},
		{Knob{Integer: true}, 1e15, "1000000000000000"},
		{Knob{}, 0.123456, "0.1235"},
	} {
		if got := tt.knob.Format(tt.v); got != tt.want {
			t.Errorf("%+v: Format(%v) = %q, want %q", tt.knob, tt.v, got, tt.want)
		}
	}
}

// A point keeps its place in the order of values, whenever it comes.
func TestCurveAt(t *testing.T) {
	c := &Curve{}
	for _, tt := range []struct {
		v    float64
		want int
	}{{4, 0}, {1, 0}, {2, 1}, {4, 2}, {8, 3}, {1, 0}} {
		if got := c.at(tt.v); got != tt.want || c.Points[got].Value != tt.v {
			t.Errorf("at(%v) = %d in %v, want %d", tt.v, got, c.Points, tt.want)
		}
	}
	if len(c.Points) != 4 {
		t.Errorf("%d points, want 4", len(c.Points))
	}
}

// Counts at which a trace is taken: a few, the recommended, the largest, and one between.
func TestRecordAt(t *testing.T) {
	curve := func(chosen int, values ...float64) *Curve {
		c := &Curve{Chosen: chosen}
		for _, v := range values {
			c.Points = append(c.Points, Point{Value: v, Ratio: 1})
		}
		return c
	}
	failed := curve(-1, 1, 2, 64)
	failed.Points[2].Ratio = 0
	for _, tt := range []struct {
		curve *Curve
		want  string
	}{
		{curve(-1), "[]"},
		{curve(-1, 0), "[]"},
		{curve(0, 1, 2, 4, 8, 16), "[1 4 8 16]"},
		{curve(3, 1, 2, 4, 8, 16, 32, 64, 128), "[4 8 32 128]"},
		{curve(0, 0, 1, 2), "[1 2]"},
		{curve(-1, 1, 64), "[1 64]"},
		{failed, "[2]"},
	} {
		if got := fmt.Sprint(tt.curve.recordAt()); got != tt.want {
			t.Errorf("recordAt of %d points, %d chosen = %s, want %s", len(tt.curve.Points), tt.curve.Chosen, got, tt.want)
		}
	}
}

// What cannot be a grid is told why; what is at the edge can be one.
func TestGridBounds(t *testing.T) {
	values := func(n int) (list []float64) {
		for i := range n {
			list = append(list, float64(i))
		}
		return list
	}
	for _, tt := range []struct {
		name string
		knob Knob
		n    int // of values
		want string
	}{
		{"as many values as can be", Knob{Values: values(200)}, 200, ""},
		{"more values", Knob{Values: values(201)}, 0, "x has 201 values; at most 200 can be tried"},
		{"upside down", Knob{Low: 5, High: 4}, 0, "x: 5..4 is no range of values"},
		{"below nothing", Knob{Low: -1, High: 4}, 0, "x: -1..4 is no range of values"},
		{"without end", Knob{Low: 1, High: math.Inf(1)}, 0, "x: 1..+Inf is no range of values"},
		{"of 64 doublings", Knob{Low: 1, High: 1 << 64}, 65, ""},
		{"of more than 64 doublings", Knob{Low: 0.9, High: 1 << 64}, 0, "x: the range 0.9..1.8446744073709552e+19 is too wide"},
		{"up to the greatest", Knob{Low: math.MaxFloat64 / 4, High: math.MaxFloat64}, 3, ""},
		{"fractions from nothing", Knob{High: 1}, 0, "x: a range of fractions must begin above 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.knob.Name = "x"
			list, err := tt.knob.grid()
			got := ""
			if err != nil {
				got = err.Error()
			}
			if len(list) != tt.n || got != tt.want {
				t.Errorf("grid() has %d values, %q, want %d, %q", len(list), got, tt.n, tt.want)
			}
		})
	}
}

// What a search says before each run: how many were done, of how many, and what is run now.
func TestTuneProgress(t *testing.T) {
	m := &simulation{seconds: func(s Setting) float64 { return 1 / (s["workers"] * s["batch"]) }, random: rand.New(rand.NewPCG(1, 8))}
	var got []string
	s := Search{Goal: Goal{Metric: diagnosis.Elapsed}, At: m.at, Repeats: 2, Knobs: []Knob{
		{Name: "workers", Values: []float64{1, 2, 4}, Start: 1, Counts: Workers},
		{Name: "batch", Values: []float64{1, 8}, Start: 1},
	}, Record: func(_ context.Context, s Setting) (*model.Model, error) { return pool(s["workers"], nil), nil }}
	tuned, err := Tune(t.Context(), s, func(done, of int, what string) {
		if knob, _, _ := strings.Cut(what, "="); knob == "workers" || knob == "batch" {
			what = knob // whose values come in any order
		}
		got = append(got, fmt.Sprintf("%d of %d: %s", done, of, what))
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 6 {
		want = append(want, fmt.Sprintf("%d of 10: workers", i))
	}
	want = append(want, "6 of 10: a trace with workers=4")
	for i := range 4 {
		want = append(want, fmt.Sprintf("%d of 10: batch", 6+i))
	}
	want = append(want, "10 of 10: start against all chosen")
	const warm = 2 // runs, and 40 pairs at most
	for i := range warm + tuned.Together.Pairs {
		want = append(want, fmt.Sprintf("%d of 90: start against all chosen", 10+2*max(0, i+1-warm)))
	}
	if !slices.Equal(got, want) || tuned.Runs != 10 {
		t.Errorf("progress of %d runs is\n%s\nwant 10 and\n%s", tuned.Runs, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A new value is measured with the best point, those beside the one that it is near, and the chosen one: four at most.
func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		name               string
		best, near, chosen int
		failed             int // a point, -1 for none
		want               []float64
	}{
		{"beside the best", 2, 2, 2, -1, []float64{2, 3, 4, 8}},
		{"beside the chosen", 4, 1, 1, -1, []float64{1, 2, 3, 16}},
		{"beside the first", 0, 0, 0, -1, []float64{1, 2, 3}},
		{"beside the first, with another chosen", 0, 0, 3, -1, []float64{1, 2, 3, 8}},
		{"beside the last", 4, 4, 4, -1, []float64{3, 8, 16}},
		{"a neighbour failed", 2, 2, 2, 1, []float64{3, 4, 8}},
		{"none is chosen", 2, 2, -1, 1, []float64{3, 4, 8}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Curve{Knob: Knob{Name: "x"}, Best: tt.best, Chosen: tt.chosen}
			for i := range 5 {
				c.Points = append(c.Points, Point{Value: math.Exp2(float64(i)), Ratio: 1})
			}
			if tt.failed >= 0 {
				c.Points[tt.failed].Failed = "killed"
			}
			var got []float64
			f, err := newFinder(Search{Knobs: []Knob{{Name: "x", Low: 1, High: 16}}, Repeats: 1, At: func(s Setting) Runner {
				got = append(got, s["x"])
				return constant(nil)
			}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.checked = true
			if err := f.between(t.Context(), c, 3, tt.near); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("between measures %v, want %v", got, tt.want)
			}
		})
	}
}

// The search between points ends after so many steps, and that of points again after so many runs.
func TestStepsOfSearch(t *testing.T) {
	peak := func(s Setting) float64 { return 1 + math.Abs(math.Log(s["x"]/300)) }
	wall := func(s Setting) float64 {
		if s["x"] < 50 {
			return 2
		}
		return 1
	}
	level := func(Setting) float64 { return 1 }
	visits := func(c *Curve) (n int) {
		for i := range c.Points {
			n = max(n, len(c.Points[i].Visits))
		}
		return n
	}
	for _, tt := range []struct {
		name    string
		seconds func(Setting) float64
		noise   float64
		repeats int
		step    func(*finder, context.Context, *Curve) error
		points  int
		visits  int // of the point that has most, 0 for any
	}{
		{"five by golden section", peak, 0, 1, (*finder).golden, 3 + 5, 0},
		{"three by halves", wall, 0, 1, (*finder).knee, 3 + 3, 0},
		{"three times as many again", level, 0.3, 2, (*finder).decide, 3, 2 + 3*2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &simulation{seconds: tt.seconds, noise: tt.noise, random: rand.New(rand.NewPCG(1, 2))}
			x := Knob{Name: "x", Low: 1, High: 1e4}
			f, err := newFinder(Search{Knobs: []Knob{x}, Goal: Goal{Metric: diagnosis.Elapsed}, Repeats: tt.repeats, At: m.at}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &Curve{Knob: x, Goal: f.Goal, Best: -1, Chosen: -1}
			if err := f.measure(t.Context(), c, []float64{1, 100, 1e4}, tt.repeats); err != nil {
				t.Fatal(err)
			}
			if err := tt.step(f, t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if len(c.Points) != tt.points || tt.visits > 0 && visits(c) != tt.visits {
				t.Errorf("the step ends with %d points and %d visits, want %d and %d", len(c.Points), visits(c), tt.points, tt.visits)
			}
		})
	}
}

// Runs on a busy machine are dropped up to five, or up to as many as counted; then all count, and it is told once.
func TestDropOfRuns(t *testing.T) {
	const why = "other processes used 50.0% of the machine"
	for _, tt := range []struct {
		name          string
		runs, dropped int
		busy          bool
		now           Conditions
		want          string
		after         int // dropped then
		warnings      int
	}{
		{"a quiet one", 0, 0, false, Conditions{}, "", 0, 0},
		{"the fifth", 0, 4, false, Conditions{Others: 0.5}, why, 5, 0},
		{"the sixth", 0, 5, false, Conditions{Others: 0.5}, "", 4, 1},
		{"the eighth of eight", 8, 7, false, Conditions{Others: 0.5}, why, 8, 0},
		{"the ninth of eight", 8, 8, false, Conditions{Others: 0.5}, "", 7, 1},
		{"after it was given up", 8, 3, true, Conditions{Others: 0.5}, "", 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &finder{Search: Search{Busy: DefaultGate}, busy: tt.busy, out: &Tuned{Runs: tt.runs, Dropped: tt.dropped}}
			c := &Curve{Points: []Point{{Visits: []Visit{{Dropped: "busy"}, {}}}}}
			got := f.drop(c, tt.now)
			if got != tt.want || f.out.Dropped != tt.after || len(f.out.Warnings) != tt.warnings {
				t.Errorf("drop = %q, with %d dropped, warnings %q, want %q with %d", got, f.out.Dropped, f.out.Warnings, tt.want, tt.after)
			}
			if taken := c.Points[0].Visits[0].Dropped == ""; taken != (tt.warnings > 0) || taken && f.out.Runs != tt.runs+1 {
				t.Errorf("the run that was dropped counts: %v, of %d", taken, f.out.Runs)
			}
		})
	}
}

// What runs warn of is kept once, up to twenty; the first of them must have what the search is about.
func TestAcceptRun(t *testing.T) {
	f := &finder{Search: Search{Goal: Goal{Metric: diagnosis.Elapsed}, Keep: []Keep{{Metric: diagnosis.P99}}}, out: &Tuned{}}
	first := Sample{Elapsed: time.Second, Values: values{diagnosis.P50: 1}, Warnings: []string{"late", "late", "cold"}}
	const want = "p99 is not measured by these runs; measured: elapsed, p50"
	if err := f.accept(&first); err == nil || err.Error() != want {
		t.Errorf("accept of a run without what is kept to = %v, want %s", err, want)
	}
	if got := strings.Join(f.out.Warnings, ", "); got != "late, cold" {
		t.Errorf("warnings are %q, want each once", got)
	}
	if err := f.accept(&Sample{}); err != nil {
		t.Errorf("accept of a later run = %v", err)
	}
	many := Sample{}
	for i := range 30 {
		many.Warnings = append(many.Warnings, fmt.Sprint("warning ", i))
	}
	if err := f.accept(&many); err != nil || len(f.out.Warnings) != 20 {
		t.Errorf("%d warnings are kept (%v), want 20", len(f.out.Warnings), err)
	}
	f.checked = false
	if err := f.accept(&Sample{Elapsed: time.Second, Values: values{diagnosis.P99: 1}}); err != nil {
		t.Errorf("accept of a run with all = %v", err)
	}
}

func TestSettingInWords(t *testing.T) {
	s := Setting{"workers": 4, "batch": 2.5, "other": 1}
	number := func(v float64) string { return fmt.Sprintf("%.1f", v) }
	if got, want := s.Words([]string{"workers", "batch"}, number), "workers=4.0 batch=2.5"; got != want {
		t.Errorf("Words = %q, want %q", got, want)
	}
	for limit, want := range map[Keep][3]bool{{Limit: 5, AtMost: true}: {true, true, false}, {Limit: 5}: {false, true, true}} {
		if got := [3]bool{limit.holds(4), limit.holds(5), limit.holds(6)}; got != want {
			t.Errorf("a limit of 5, at most %v, holds for 4, 5 and 6: %v, want %v", limit.AtMost, got, want)
		}
	}
}

// An interrupt counts runs that a busy machine had dropped where there are no others.
func TestTuneInterruptedWhileBusy(t *testing.T) {
	for _, tt := range []struct {
		name          string
		quiet         int
		runs, dropped int
	}{{"busy from the start", 0, 3, 0}, {"busy after one run", 1, 1, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := &simulation{seconds: func(Setting) float64 { return 1 }, random: rand.New(rand.NewPCG(1, 1))}
			m.after = func(n int, s *Sample) error {
				if n > tt.quiet {
					s.Conditions.Others = 0.5
				}
				if n > 3 {
					cancel()
				}
				return ctx.Err()
			}
			s := Search{Knobs: []Knob{{Name: "x", Values: []float64{1, 2}}}, Goal: Goal{Metric: diagnosis.Elapsed}, At: m.at}
			got, err := Tune(ctx, s, nil)
			if !errors.Is(err, context.Canceled) || got.Runs != tt.runs || got.Dropped != tt.dropped {
				t.Errorf("Tune: %v with %d runs, %d dropped, want %d, %d", err, got.Runs, got.Dropped, tt.runs, tt.dropped)
			}
		})
	}
}

// Golden section measures again what is beside the best point, halving what is beside the chosen one.
func TestNeighboursAreMeasured(t *testing.T) {
	seconds := func(s Setting) float64 {
		for _, step := range []struct{ from, seconds float64 }{{16, 1.5}, {8, 1}, {4, 1.05}, {2, 1.02}} {
			if s["x"] >= step.from {
				return step.seconds
			}
		}
		return 1.3
	}
	for name, tt := range map[string]struct {
		step        func(*finder, context.Context, *Curve) error
		again, once float64 // values
	}{"golden": {(*finder).golden, 16, 1}, "knee": {(*finder).knee, 1, 16}} {
		t.Run(name, func(t *testing.T) {
			visits := map[float64]int{}
			m := &simulation{seconds: seconds, random: rand.New(rand.NewPCG(1, 1))}
			at := func(s Setting) Runner {
				visits[s["x"]]++
				return m.at(s)
			}
			x := Knob{Name: "x", Low: 1, High: 16}
			f, err := newFinder(Search{Knobs: []Knob{x}, Goal: Goal{Metric: diagnosis.Elapsed}, Repeats: 1, At: at}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &Curve{Knob: x, Goal: f.Goal}
			if err := f.measure(t.Context(), c, []float64{1, 2, 4, 8, 16}, 1); err != nil {
				t.Fatal(err)
			}
			if err := tt.step(f, t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if visits[tt.again] < 2 || visits[tt.once] != 1 {
				t.Errorf("%v was measured %d times and %v %d, want it again and once", tt.again, visits[tt.again], tt.once, visits[tt.once])
			}
		})
	}
}
