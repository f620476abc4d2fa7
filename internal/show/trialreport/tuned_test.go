package trialreport

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// simulated runs a program whose elapsed time and memory are known functions,
// with noise of 2%.
func simulated(seconds, rss func(experiment.Setting) float64) func(experiment.Setting) experiment.Runner {
	random := rand.New(rand.NewPCG(4, 4))
	return func(s experiment.Setting) experiment.Runner {
		return func(context.Context) (experiment.Sample, error) {
			elapsed := seconds(s) * math.Exp(0.02*random.NormFloat64())
			if math.IsInf(elapsed, 1) {
				return experiment.Sample{}, errors.New("./app failed with exit code 2\nit printed last: too many")
			}
			return experiment.Sample{Elapsed: time.Duration(elapsed * 1e9), Values: map[diagnosis.Metric]float64{diagnosis.PeakRSS: rss(s), diagnosis.P99: 0.0002 * s["workers"]}}, nil
		}
	}
}

// traced returns a run of workers that wait for two Ps.
func traced(_ context.Context, s experiment.Setting) (*model.Model, error) {
	n := s["workers"]
	g := model.Group{Name: "main.worker", Count: int(n), Peak: int(n), Times: model.Times{Running: time.Second, Syscall: time.Second,
		Runnable: time.Duration(n) * 200 * time.Millisecond, Blocked: map[string]time.Duration{"sync": 500 * time.Millisecond}}}
	return &model.Model{Run: model.Run{Procs: 2}, Sched: &model.Sched{Groups: []model.Group{g}}}, nil
}

func tuneds(t *testing.T) map[string]*experiment.Tuned {
	t.Helper()
	workers := experiment.Knob{Name: "workers", Low: 1, High: 1000, Integer: true, Start: 100, Counts: experiment.Workers}
	rss := func(s experiment.Setting) float64 { return (8 + s["workers"]/8) * (1 << 20) }
	pool := func(s experiment.Setting) float64 { n := s["workers"]; return 0.4/min(n, 4) + 0.0004*n }
	out := map[string]*experiment.Tuned{}
	search := func(name string, s experiment.Search) {
		if s.Goal.Metric == "" {
			s.Goal.Metric = diagnosis.Elapsed
		}
		s.Seed = 7
		r, err := experiment.Tune(t.Context(), s, nil)
		if err != nil {
			t.Fatalf("Tune(%s): %v, want nil", name, err)
		}
		r.Took, r.Command = 83*time.Second, []string{"./app", "-workers", "{workers}", "-gc={gogc}", "-trace", "{trace}"}
		if r.Together != nil {
			r.Together.Took = 0
		}
		out[name] = r
	}
	search("workers", experiment.Search{Knobs: []experiment.Knob{workers}, At: simulated(pool, rss), Record: traced})
	search("limits", experiment.Search{Knobs: []experiment.Knob{workers}, At: simulated(pool, rss), NoRecord: "--no-trace was given",
		Keep: []experiment.Keep{{Metric: diagnosis.P99, Limit: 0.0005, AtMost: true}}})
	search("none", experiment.Search{Knobs: []experiment.Knob{workers}, At: simulated(pool, rss), Keep: []experiment.Keep{{Metric: diagnosis.PeakRSS, Limit: 1, AtMost: true}}})
	gogc := experiment.Knob{Name: "gogc", Values: []float64{50, 100, 200, 400}, Low: 50, High: 400, Integer: true, Start: 100}
	small := workers
	small.High, small.Counts = 16, ""
	search("several", experiment.Search{Knobs: []experiment.Knob{small, gogc}, At: simulated(func(s experiment.Setting) float64 {
		return (0.2 + 1/s["workers"]) * (1 + 20/s["gogc"])
	}, rss)})
	search("fails", experiment.Search{Knobs: []experiment.Knob{{Name: "GOMEMLIMIT", Low: 64 << 20, High: 1 << 30, Bytes: true, Integer: true, Start: 1 << 30}},
		At: simulated(func(s experiment.Setting) float64 {
			if s["GOMEMLIMIT"] < 100<<20 {
				return math.Inf(1)
			}
			return 1 + 1e8/s["GOMEMLIMIT"]
		}, rss)})
	return out
}

// hostileTuned has everything that a program's name or a saved file can smuggle in.
func hostileTuned() *experiment.Tuned {
	const evil = "evil\x1b]0;owned\x07 </script><script>alert(1)</script> \"'&`x`"
	k := experiment.Knob{Name: evil, Counts: evil, Start: math.NaN()}
	inf := experiment.Interval{Value: math.Inf(1), Low: math.NaN(), High: math.Inf(-1)}
	c := experiment.Curve{Knob: k, Goal: experiment.Goal{Metric: evil}, Best: 1, Chosen: 1, Noise: math.Inf(1), Points: []experiment.Point{
		{Value: math.Inf(-1), Failed: evil}, {Value: 1, Goal: experiment.Interval{Value: 1, Low: 0, High: math.Inf(1)}, Ratio: 1},
		{Value: 1e300, Goal: experiment.Interval{Value: 1e300, Low: math.NaN(), High: 1e308}, Ratio: 1e300,
			Values: map[diagnosis.Metric]float64{diagnosis.PeakRSS: 1e300, evil: math.NaN()}}},
		USL:      &experiment.USL{Lambda: inf, Sigma: inf, Kappa: inf, NoPeak: evil, Unit: evil, Tested: [2]float64{1, 1e300}},
		Formulas: []experiment.Formula{{Name: evil, Text: evil, Why: evil, At: []float64{1, 2}, Says: []float64{1}}, {}}}
	empty := experiment.Curve{Best: -1, Chosen: -1, NoUSL: evil, NoFormulas: evil}
	return &experiment.Tuned{Goal: c.Goal, Keep: []experiment.Keep{{Metric: evil, Limit: math.NaN()}}, Curves: []experiment.Curve{c, empty},
		Start: experiment.Setting{evil: 2}, Chosen: experiment.Setting{evil: 1}, Command: []string{evil, ""}, Load: evil, Ready: evil, Warnings: []string{evil},
		Together: &experiment.Trial{Conclusion: evil, Why: evil}, Runs: -1, Took: -1}
}

func TestTunedGolden(t *testing.T) {
	for name, r := range tuneds(t) {
		var b bytes.Buffer
		if err := TunedText(&b, r, layout.Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "tuned-"+name+".txt", b.Bytes())
	}
	var b bytes.Buffer
	if err := TunedCSV(&b, tuneds(t)["workers"]); err != nil {
		t.Fatal(err)
	}
	golden(t, "tuned-workers.csv", b.Bytes())
}

// Whatever its width, a search fits it, and nothing reaches a terminal raw.
func TestTunedLayout(t *testing.T) {
	list := tuneds(t)
	list["hostile"] = hostileTuned()
	for name, r := range list {
		for _, width := range []int{0, 20, 60, 80, 110, 300} {
			var b bytes.Buffer
			if err := TunedText(&b, r, layout.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), layout.UnsafeRune) >= 0 {
				t.Errorf("%s at %d columns has control characters", name, width)
			}
			most := min(max(width, layout.MinWidth), layout.MaxWidth)
			if width == 0 {
				most = 80
			}
			for _, l := range strings.Split(text, "\n") {
				if n := utf8.RuneCountInString(l); n > most && most >= 60 && name != "hostile" && !strings.Contains(l, "gowhy verify") {
					t.Errorf("%s: %d columns, want at most %d: %s", name, n, most, l)
				}
			}
		}
	}
}

func TestTunedCSV(t *testing.T) {
	list := tuneds(t)
	list["hostile"] = hostileTuned()
	for name, r := range list {
		var b bytes.Buffer
		if err := TunedCSV(&b, r); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		points := 0
		for i := range r.Curves {
			points += len(r.Curves[i].Points)
		}
		if err != nil || len(rows) != 1+points {
			t.Errorf("%s: %d rows, %v; want a head and %d points", name, len(rows), err, points)
		}
	}
}

func capacities(t *testing.T) map[string]*experiment.CapacityResult {
	t.Helper()
	out := map[string]*experiment.CapacityResult{}
	search := func(name string, limit float64, s experiment.CapacitySearch, spoil func(*experiment.Offered)) {
		s.Offer = func(_ context.Context, rate float64, d time.Duration) (experiment.Offered, error) {
			o := experiment.Offered{Sent: rate, Done: min(rate, limit), P50: 900 * time.Microsecond, P99: 4 * time.Millisecond}
			for i := range 40 {
				at := time.Duration(i) * d / 40
				o.Backlog = append(o.Backlog, model.Point{At: at, Value: 2 + max(0, rate-limit)*at.Seconds()})
			}
			spoil(&o)
			return o, nil
		}
		r, err := experiment.Capacity(t.Context(), s, nil)
		if err != nil {
			t.Fatalf("Capacity(%s): %v, want nil", name, err)
		}
		r.Took, r.URL = 3*time.Minute, "http://localhost:8080/a b"
		out[name] = r
	}
	none := func(*experiment.Offered) {}
	search("backlog", 1730, experiment.CapacitySearch{From: 100}, none)
	search("latency", 1e9, experiment.CapacitySearch{From: 100, P99: 50 * time.Millisecond}, func(o *experiment.Offered) {
		if o.Sent > 3000 {
			o.P99, o.Failed = 80*time.Millisecond, 0
		}
	})
	search("generator", 1e9, experiment.CapacitySearch{From: 100}, func(o *experiment.Offered) {
		if o.Sent > 3000 {
			o.Generator = "its 2 CPUs were full"
		}
	})
	disturbed := 0
	search("busy", 1730, experiment.CapacitySearch{From: 1000}, func(o *experiment.Offered) {
		if disturbed++; disturbed < 3 {
			o.Failed, o.Conditions.Others = 0.2, 0.44
		}
	})
	search("below", 0.01, experiment.CapacitySearch{From: 100}, none)
	return out
}

// s1 returns the rule engine of the case study.
func s1() *experiment.CapacityTable {
	r := &experiment.CapacityTable{Axes: []string{experiment.Processes, "concurrency"}}
	for _, c := range [][3]float64{{1, 1, 1700}, {1, 5, 1800}, {1, 10, 1800}, {2, 1, 3500}} {
		r.Cells = append(r.Cells, experiment.Cell{Setting: experiment.Setting{experiment.Processes: c[0], "concurrency": c[1]}, Rate: c[2]})
	}
	r.Conclusion = experiment.Conclude(r.Axes, r.Cells)
	return r
}

func TestCapacityGolden(t *testing.T) {
	for name, r := range capacities(t) {
		var b bytes.Buffer
		if err := Capacity(&b, r, layout.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(l); n > 80 && !strings.Contains(l, "gowhy ") {
				t.Errorf("%s: %d columns, want at most 80: %s", name, n, l)
			}
		}
		golden(t, "capacity-"+name+".txt", b.Bytes())
	}
	var b bytes.Buffer
	if err := CapacityTable(&b, s1(), layout.Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "capacity-table.txt", b.Bytes())
}

func TestCapacityHostile(t *testing.T) {
	const evil = "evil\x1b[2J\x07"
	r := &experiment.CapacityResult{Low: math.Inf(1), High: math.NaN(), Limit: evil, Why: evil, URL: evil, Took: -1, Warnings: []string{evil},
		Steps: []experiment.Step{{Limit: evil, Dropped: evil, Offered: experiment.Offered{Rate: math.NaN(), Done: math.Inf(1), Generator: evil}}, {}}}
	table := &experiment.CapacityTable{Axes: []string{evil, "b"}, Cells: []experiment.Cell{{Setting: experiment.Setting{evil: 1}, Failed: evil, Search: r}, {}},
		Conclusion: experiment.Stage{Where: evil, Why: evil, Next: evil, Shapes: []experiment.AxisShape{{Axis: evil, Shape: evil}}}}
	for _, write := range []func(io.Writer) error{
		func(w io.Writer) error { return Capacity(w, r, layout.Options{}) },
		func(w io.Writer) error { return CapacityTable(w, table, layout.Options{}) },
		func(w io.Writer) error { return CapacityTable(w, &experiment.CapacityTable{}, layout.Options{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if strings.IndexFunc(strings.ReplaceAll(b.String(), "\n", ""), layout.UnsafeRune) >= 0 {
			t.Errorf("want no control characters in %q", b.String())
		}
	}
}

// What is recommended because the noise hides a difference is not said to be
// within 3% of the best.
func TestTunedNoise(t *testing.T) {
	curve := func(chosen float64) *experiment.Tuned {
		point := func(value, goal, ratio float64) experiment.Point {
			return experiment.Point{Value: value, Goal: experiment.Interval{Value: goal, Low: goal * 0.8, High: goal * 1.2}, Ratio: ratio, Kept: true}
		}
		c := experiment.Curve{Knob: experiment.Knob{Name: "n", Low: 1, High: 2, Integer: true}, Goal: experiment.Goal{Metric: diagnosis.Elapsed},
			Points: []experiment.Point{point(1, chosen, chosen), point(2, 1, 1), point(3, 9, 9)}, Best: 1}
		return &experiment.Tuned{Goal: c.Goal, Curves: []experiment.Curve{c}}
	}
	for chosen, want := range map[float64]struct {
		verdict string
		warned  bool
	}{1.02: {"within 3% of n=2 (1.00 s)", false}, 1.05: {"in this noise as good as n=2", false}, 1.3: {"in this noise as good as n=2", true}} {
		r := curve(chosen)
		if _, rest := tunedVerdict(r); !strings.Contains(rest, want.verdict) {
			t.Errorf("%v: %s, want %q", chosen, rest, want.verdict)
		}
		if warned := strings.Contains(strings.Join(tunedWarnings(r), "\n"), "30.0% worse than n=2"); warned != want.warned {
			t.Errorf("%v: warnings %q, want 30%% worse than n=2 among them: %v", chosen, tunedWarnings(r), want.warned)
		}
	}
}

// Of settings whose intervals overlap none is called the best.
func TestTunedOverlap(t *testing.T) {
	point := func(value, low, goal, high float64) experiment.Point {
		return experiment.Point{Value: value, Goal: experiment.Interval{Value: goal, Low: low, High: high}, Ratio: goal, Kept: true}
	}
	for name, c := range map[string]struct {
		points     []experiment.Point
		word, rest string
	}{
		"flat":  {[]experiment.Point{point(1, 0.46, 1, 1.17), point(2, 0.46, 1.01, 1.18), point(4, 0.47, 1.02, 1.21)}, "no difference found:", "the smallest is 1, elapsed 1.00 s; the intervals of n=1..4 overlap"},
		"early": {[]experiment.Point{point(1, 0, 1, math.Inf(1)), point(2, 0, 1.5, math.Inf(1)), {Value: 4}}, "undecided:", "elapsed 1.00 s with n=1 leads so far, of single runs that show no spread"},
		"some":  {[]experiment.Point{point(1, 0.9, 1, 1.1), point(2, 0.95, 1.04, 1.2), point(4, 3, 4, 5)}, "use n=1:", "elapsed 1.00 s, and no other of n=1..4 is surely better; n=4 is 4× worse"},
		"alone": {[]experiment.Point{point(1, 0.9, 1, 1.1), point(2, 1.9, 2, 2.1)}, "use n=1:", "elapsed 1.00 s, the best of n=1..2; n=2 is 2× worse"},
	} {
		curve := experiment.Curve{Knob: experiment.Knob{Name: "n", Low: 1, High: 4, Integer: true}, Goal: experiment.Goal{Metric: diagnosis.Elapsed}, Points: c.points}
		r := &experiment.Tuned{Goal: curve.Goal, Curves: []experiment.Curve{curve}}
		if word, rest := tunedVerdict(r); word != c.word || rest != c.rest {
			t.Errorf("%s: %q %q", name, word, rest)
		}
	}
}

// A limit that a better setting breaks is part of what "the best" means.
func TestTunedBestThatHolds(t *testing.T) {
	r := tuneds(t)["limits"]
	if _, rest := tunedVerdict(r); !strings.Contains(rest, "the best of workers=1..1000 that holds p99") {
		t.Errorf("verdict %q, want the best that holds p99", rest)
	}
	c := &r.Curves[0]
	if got := toBest(c, &c.Points[c.Best]); got != 1 {
		t.Errorf("toBest(the best) = %v, want 1", got)
	}
	if got := toBest(&experiment.Curve{Best: -1}, &experiment.Point{Ratio: 1}); !math.IsNaN(got) {
		t.Errorf("toBest(no best) = %v, want NaN", got)
	}
}

func TestLawOfInterruptedSearch(t *testing.T) {
	x := newTexter(layout.Options{})
	x.law(&experiment.Curve{Knob: experiment.Knob{Counts: experiment.Workers}})
	if got := x.String(); !strings.Contains(got, "not fitted: the search ended before\n") {
		t.Errorf("law of a search that ended early: %q, want it not fitted", got)
	}
}
