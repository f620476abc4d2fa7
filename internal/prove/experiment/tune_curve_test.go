package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// curveOf returns a curve of elapsed times whose logs are those of each value, one in a round.
func curveOf(values []float64, logs ...[]float64) *Curve {
	c := &Curve{Goal: Goal{Metric: diagnosis.Elapsed}, Best: -1, Chosen: -1}
	for i, v := range values {
		p := Point{Value: v}
		for round, log := range logs[i] {
			s := Sample{Ops: 10, Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: math.Exp(log)}}
			p.Visits = append(p.Visits, Visit{Round: round, Sample: s})
		}
		c.Points = append(c.Points, p)
	}
	return c
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

func allNear(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, near) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// TestPolish takes what rounds have in common out of points: their levels are exact where each run
// is its point's level and its round's effect, and a wild run moves none.
func TestPolish(t *testing.T) {
	c := curveOf([]float64{1, 2, 4},
		[]float64{3, 3.5, 2.75},
		[]float64{2, 2.5, 1.75},
		[]float64{1, 1.5, 0.75})
	f := c.polish()
	allNear(t, "levels", f.level, []float64{3, 2, 1})
	for i, of := range f.of {
		allNear(t, fmt.Sprint("runs of point ", i), of, []float64{f.level[i], f.level[i], f.level[i]})
	}
	if f.spread != 0 {
		t.Errorf("the spread is %v, want none", f.spread)
	}
	c.Points[0].Visits[0].Values[diagnosis.Elapsed] = math.Exp(9)
	allNear(t, "levels beside a wild run", c.polish().level, []float64{3, 2, 1})
	c.Points[0].Visits[0].Dropped = "busy"
	if of := c.polish().of[0]; len(of) != 2 {
		t.Errorf("%d runs count, want two of three", len(of))
	}
	c.Points[1].Visits[0].Values[diagnosis.Elapsed] = 0
	if of := c.polish().of[1]; len(of) != 2 {
		t.Errorf("%d runs count beside one that took no time, want two of three", len(of))
	}
}

func TestMeasureSpread(t *testing.T) {
	f := &polished{level: []float64{3, 10, 7}, of: [][]float64{{1, 2, 5}, {8, 14}, {7}}}
	f.measureSpread()
	if want := 3.5 / 0.954; !near(f.spread, want) { // the middle of 1, 3, 4 and 6
		t.Errorf("the spread is %v, want %v", f.spread, want)
	}
	c := curveOf([]float64{1}, []float64{0, 0.0954})
	c.Points[0].Visits[1].Round = 0
	if c.settle(nil); !near(c.Noise, math.Expm1(0.1)) {
		t.Errorf("the noise is %v, want %v", c.Noise, math.Expm1(0.1))
	}
	three, two := math.Sqrt(3./2), math.Sqrt2
	allNear(t, "rests", f.rests, []float64{-2 * three, -1 * three, 2 * three, -2 * two, 4 * two})
	for i, want := range []float64{1.2 * f.spread / math.Sqrt(3), f.spread / two, f.spread} {
		if got := f.err(i); !near(got, want) {
			t.Errorf("err(%d) = %v, want %v", i, got, want)
		}
	}
	if f.of = [][]float64{nil}; !math.IsInf(f.err(0), 1) {
		t.Error("a point without runs has a standard error")
	}
}

// An interval is that of the point's own rests where it has eight, of all rests where it has fewer, and holds
// the estimate.
func TestIntervalOfPoint(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := &polished{level: []float64{2}, of: [][]float64{{2}}}
	if got, want := one.interval(0, random), (Interval{math.Exp(2), 0, math.Inf(1)}); got != want {
		t.Errorf("interval of one run = %v, want %v", got, want)
	}
	eight := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	wide := []float64{-3, 3, -3, 3}
	if got := (&polished{level: []float64{1}, of: [][]float64{eight}, rests: wide}).interval(0, random); got.Low != got.High {
		t.Errorf("interval of eight equal runs = %v, want no width", got)
	}
	got := (&polished{level: []float64{1}, of: [][]float64{eight[:7]}, rests: wide}).interval(0, random)
	if !near(got.Low, math.Exp(-2)) || !near(got.High, math.Exp(4)) {
		t.Errorf("interval of seven runs among wide rests = %v, want %v to %v", got, math.Exp(-2), math.Exp(4))
	}
	above := (&polished{level: []float64{1}, of: [][]float64{eight[:7]}, rests: []float64{0.5, 1, 0.5}}).interval(0, random)
	if !near(above.Low, math.Exp(1)) || above.High <= above.Low {
		t.Errorf("interval of rests above the estimate = %v, want it to begin at %v", above, math.Exp(1))
	}
}

// Ratios are to the mean, by weight, of the points that cannot be told from the best.
func TestCompare(t *testing.T) {
	c := curveOf([]float64{1, 2, 4, 8}, []float64{2}, []float64{1}, []float64{1.1}, nil)
	for i := range c.Points {
		c.Points[i].Kept = true
	}
	f := &polished{level: []float64{2, 1, 1.1, 0}, of: [][]float64{{2}, {1}, {1.1, 1.1, 1.1, 1.1}, nil}, spread: 0.1}
	c.compare(f, 1)
	// The last of four has no run; the first is ten standard errors away. 0.1 and 0.06 are those of the others.
	w1, w2 := 1/(0.1*0.1), 1/(0.06*0.06)
	level, err := (w1*1+w2*1.1)/(w1+w2), 1/math.Sqrt(w1+w2)
	for i, want := range []float64{math.Exp(2 - level), math.Exp(1 - level), math.Exp(1.1 - level), 0} {
		if got := c.Points[i].Ratio; !near(got, want) {
			t.Errorf("ratio %d = %v, want %v", i, got, want)
		}
	}
	if got, want := c.Points[2].Error, math.Expm1(math.Hypot(0.06, err)); !near(got, want) {
		t.Errorf("error = %v, want %v", got, want)
	}
	c.Goal.Max = true
	c.Points[2].Kept = false // and is another kind, then
	c.compare(f, 1)
	if got, want := c.Points[0].Ratio, math.Exp(-1); !near(got, want) {
		t.Errorf("ratio where more is better = %v, want %v", got, want)
	}
	if got, want := c.Points[2].Ratio, math.Exp(-0.1); !near(got, want) {
		t.Errorf("ratio of one that holds no limit = %v, want %v", got, want)
	}
}

// What is run again are the points up to the chosen one that may be within the margin or not, and the best.
func TestHangs(t *testing.T) {
	edge := 1 + NearBest
	c := &Curve{Best: 3, Chosen: 2, Points: []Point{
		{Ratio: edge * 1.3, Error: 0.1, Kept: true}, // 2.75 standard errors away
		{Ratio: edge * 1.1, Error: 0.1, Kept: true},
		{Ratio: edge * 0.9, Error: 0.1, Kept: true},
		{Ratio: 1, Error: 0.1, Kept: true},
	}}
	for _, tt := range []struct {
		name   string
		change func()
		want   []int
	}{
		{"two near the margin", func() {}, []int{1, 2, 3}},
		{"one that failed", func() { c.Points[1].Failed = "killed" }, []int{2, 3}},
		{"the best of all is the chosen one", func() { c.Best, c.Chosen = 2, 2 }, nil},
		{"none that holds the limit", func() { c.Best, c.Points[1].Failed, c.Points[1].Kept = 3, "", false }, []int{2, 3}},
		{"sure of all", func() { c.Points[2].Error = 0.001 }, nil},
		{"none was chosen", func() { c.Points[1].Kept, c.Chosen = true, -1 }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.change()
			if got := c.hangs(); !slices.Equal(got, tt.want) {
				t.Errorf("hangs() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMedians(t *testing.T) {
	run := func(seconds, ops, p99 float64) Visit {
		return Visit{Sample: Sample{Elapsed: time.Duration(seconds * 1e9), Ops: ops, Values: map[diagnosis.Metric]float64{diagnosis.P99: p99}}}
	}
	dropped := run(100, 1, 100)
	dropped.Dropped = "busy"
	stated := run(4, 20, 3)
	stated.Values[diagnosis.OpsPerSec] = 50
	got := medians([]Visit{run(1, 10, 1), run(2, 10, 2), dropped, stated})
	for m, want := range map[diagnosis.Metric]float64{diagnosis.Elapsed: 2, diagnosis.OpsPerSec: 10, diagnosis.P99: 2} {
		if got[m] != want {
			t.Errorf("the median of %s is %v, want %v", m, got[m], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("medians are %v, want three", got)
	}
	if got := middle(nil); got != 0 {
		t.Errorf("the median of none is %v", got)
	}
	for in, want := range map[float64]float64{math.Inf(1): math.MaxFloat64, math.Inf(-1): -math.MaxFloat64, 2: 2, -2: -2} {
		if got := bounded(in); got != want {
			t.Errorf("bounded(%v) = %v, want %v", in, got, want)
		}
	}
	if got := bounded(math.NaN()); got != 0 {
		t.Errorf("bounded(NaN) = %v, want 0", got)
	}
}

// Throughput is of operations where all runs did as many, else of runs; counts below one have none.
func TestThroughputs(t *testing.T) {
	c := curveOf([]float64{0.5, 1, 2}, []float64{0}, []float64{math.Log(2), math.Log(2)}, []float64{0, 0})
	n, x, unit := c.throughputs()
	allNear(t, "counts", n, []float64{1, 1, 2, 2})
	allNear(t, "throughputs", x, []float64{5, 5, 10, 10})
	if unit != "ops/s" {
		t.Errorf("the unit is %s, want ops/s", unit)
	}
	c.Points[2].Visits[1].Ops = 20
	_, x, unit = c.throughputs()
	allNear(t, "throughputs of unequal runs", x, []float64{0.5, 0.5, 1, 1})
	if unit != "runs/s" {
		t.Errorf("the unit is %s, want runs/s", unit)
	}
	for i := range c.Points {
		for j := range c.Points[i].Visits {
			c.Points[i].Visits[j].Ops = 0
		}
	}
	if _, _, unit = c.throughputs(); unit != "runs/s" {
		t.Errorf("the unit of runs without operations is %s, want runs/s", unit)
	}
	c.Goal = Goal{Metric: diagnosis.OpsPerSec, Max: true}
	for i := range c.Points {
		for j := range c.Points[i].Visits {
			c.Points[i].Visits[j].Values[diagnosis.OpsPerSec] = 100 * c.Points[i].Value
		}
	}
	_, x, unit = c.throughputs()
	allNear(t, "stated throughputs", x, []float64{100, 100, 200, 200})
	if unit != "ops/s" {
		t.Errorf("the unit of what was stated is %s, want ops/s", unit)
	}
}

// Between points the search looks in the wider gap beside the best one, and below the chosen one; not where
// a list of values is given, nor where the neighbours are as good.
func TestProbes(t *testing.T) {
	points := func(ratios ...float64) []Point {
		out := make([]Point, len(ratios))
		for i, r := range ratios {
			out[i] = Point{Value: math.Pow(2, float64(i)), Ratio: r}
		}
		return out
	}
	wide := points(1.5, 1, 1.5)
	wide[2].Value = 16
	zero := points(1.5, 1)
	zero[0].Value = 0
	for _, tt := range []struct {
		name         string
		c            Curve
		golden, knee float64 // 0 for none
	}{
		{"the wider gap", Curve{Points: wide, Best: 1, Chosen: 1}, 2 * math.Pow(8, goldenRatio), math.Sqrt2},
		{"the best is the last", Curve{Points: points(2, 1.5, 1), Best: 2, Chosen: 2}, 4 * math.Pow(0.5, goldenRatio), 2 * math.Sqrt2},
		{"the best is the first", Curve{Points: points(1, 1.5), Best: 0, Chosen: 0}, math.Pow(2, goldenRatio), 0},
		{"neighbours as good", Curve{Points: points(1+NearBest, 1, 1+NearBest), Best: 1, Chosen: 0}, 0, 0},
		{"one neighbour is worse", Curve{Points: points(1, 1, 1.5), Best: 1, Chosen: 0}, 2 * math.Pow(0.5, goldenRatio), 0},
		{"a neighbour without a run", Curve{Points: points(0, 1), Best: 1, Chosen: 1}, 2 * math.Pow(0.5, goldenRatio), math.Sqrt2},
		{"none is best", Curve{Points: points(1, 1), Best: -1, Chosen: -1}, 0, 0},
		{"a neighbour of zero", Curve{Points: zero, Best: 1, Chosen: 1}, 0, 0},
		{"values that were given", Curve{Points: wide, Best: 1, Chosen: 1, Knob: Knob{Values: []float64{1, 2, 16}}}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for what, probe := range map[string]struct {
				of   func() (float64, bool)
				want float64
			}{"goldenProbe": {tt.c.goldenProbe, tt.golden}, "kneeProbe": {tt.c.kneeProbe, tt.knee}} {
				got, ok := probe.of()
				if ok != (probe.want > 0) || ok && !near(got, probe.want) {
					t.Errorf("%s() = %v, %v, want %v", what, got, ok, probe.want)
				}
			}
		})
	}
}

// A metric of a run is what it stated where that is a number; duration and throughput follow from the run itself.
func TestValueOfSample(t *testing.T) {
	run := Sample{Elapsed: 2 * time.Second, Ops: 10, Values: values{"nan": nan, "inf": math.Inf(1), "most": math.MaxFloat64, "zero": 0}}
	stated := Sample{Elapsed: 2 * time.Second, Ops: 10, Values: values{diagnosis.Elapsed: 3, diagnosis.OpsPerSec: 4}}
	for _, tt := range []struct {
		name   string
		run    Sample
		metric diagnosis.Metric
		want   float64
		ok     bool
	}{
		{"no number", run, "nan", nan, false},
		{"without end", run, "inf", math.Inf(1), false},
		{"the greatest", run, "most", math.MaxFloat64, true},
		{"nothing", run, "zero", 0, true},
		{"not measured", run, diagnosis.P99, 0, false},
		{"duration", run, diagnosis.Elapsed, 2, true},
		{"throughput", run, diagnosis.OpsPerSec, 5, true},
		{"stated duration", stated, diagnosis.Elapsed, 3, true},
		{"stated throughput", stated, diagnosis.OpsPerSec, 4, true},
		{"duration of none", Sample{Ops: 10}, diagnosis.Elapsed, 0, false},
		{"throughput of none", Sample{Ops: 10}, diagnosis.OpsPerSec, 0, false},
		{"throughput of nothing", Sample{Elapsed: time.Second}, diagnosis.OpsPerSec, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := tt.run.value(tt.metric); ok != tt.ok || ok && got != tt.want {
				t.Errorf("value(%s) = %v, %v, want %v, %v", tt.metric, got, ok, tt.want, tt.ok)
			}
		})
	}
}

// The best point is one with runs that holds the limits; the chosen one the smallest near it that does.
func TestChoose(t *testing.T) {
	logs := [][]float64{{1, 1}, {0.02, 0.02}, {0, 0}, {-1, -1}, nil}
	for _, tt := range []struct {
		name         string
		kept         []bool
		most         bool // more is better
		best, chosen int
		ratio        float64 // of the first point
	}{
		{"all hold", []bool{true, true, true, true, true}, false, 3, 3, math.Exp(2)},
		{"the best does not", []bool{true, true, true, false, false}, false, 2, 1, math.E},
		{"the smallest near it does not", []bool{true, false, true, false, false}, false, 2, 2, math.E},
		{"the first alone does", []bool{true, false, false, false, true}, false, 0, 0, 1},
		{"none does", []bool{false, false, false, false, false}, false, -1, -1, math.Exp(2)},
		{"more is better", []bool{true, true, true, true, true}, true, 0, 0, 1},
		{"more is better, and the best does not hold", []bool{false, true, true, true, true}, true, 1, 1, math.Exp(-0.98)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := curveOf([]float64{1, 2, 4, 8, 16}, logs...)
			c.Goal.Max = tt.most
			for i, kept := range tt.kept {
				c.Points[i].Kept = kept
			}
			fit := &polished{level: []float64{1, 0.02, 0, -1, -9}, of: logs}
			if c.choose(fit); c.Best != tt.best || c.Chosen != tt.chosen || !near(c.Points[0].Ratio, tt.ratio) {
				t.Errorf("best %d, chosen %d, ratio of the first %v, want %d, %d, %v",
					c.Best, c.Chosen, c.Points[0].Ratio, tt.best, tt.chosen, tt.ratio)
			}
		})
	}
	for _, tt := range []struct {
		ratio, err float64
		want       bool
	}{{1.02, 0, true}, {1.04, 0, false}, {1.04, 0.02, true}, {1.06, 0.02, false}, {0, 0.5, false}, {0.5, 0, true}} {
		if got := (&Point{Ratio: tt.ratio, Error: tt.err, Value: 9}).near(); got != tt.want {
			t.Errorf("near of a ratio of %v with an error of %v = %v, want %v", tt.ratio, tt.err, got, tt.want)
		}
	}
}

// A point holds the limits when all are measured and held.
func TestHoldsAll(t *testing.T) {
	keep := []Keep{{diagnosis.P99, 10, true}, {diagnosis.OpsPerSec, 100, false}}
	for _, tt := range []struct {
		name   string
		values values
		want   bool
	}{
		{"both", values{diagnosis.P99: 10, diagnosis.OpsPerSec: 100}, true},
		{"one too much", values{diagnosis.P99: 11, diagnosis.OpsPerSec: 100}, false},
		{"one too little", values{diagnosis.P99: 10, diagnosis.OpsPerSec: 60}, false},
		{"one is not measured", values{diagnosis.P99: 10}, false},
		{"another is not measured", values{diagnosis.OpsPerSec: 100}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := holdsAll(keep, tt.values); got != tt.want {
				t.Errorf("holdsAll(%v) = %v, want %v", tt.values, got, tt.want)
			}
		})
	}
}

// The law is for counts of what runs at once, of six points and more from one on, and for throughput.
func TestLawIsRefused(t *testing.T) {
	points := func(values ...float64) (list []Point) {
		for _, v := range values {
			list = append(list, Point{Value: v, Ratio: 2, Error: 0.5})
		}
		return list
	}
	six := points(1, 2, 3, 4, 5, 6)
	failed := points(1, 2, 3, 4, 5, 6)
	failed[5].Ratio = 0
	for _, tt := range []struct {
		name   string
		counts Counted
		goal   Goal
		points []Point
		want   string
	}{
		{"six points", Workers, Goal{Metric: diagnosis.Elapsed}, six, ""},
		{"throughput", Concurrent, Goal{diagnosis.OpsPerSec, true}, six, ""},
		{"no count", "", Goal{Metric: diagnosis.Elapsed}, six, "x is no number of things that run at once"},
		{"another goal", Workers, Goal{Metric: diagnosis.P99}, six, "it is about throughput, and the goal is min(p99)"},
		{"another goal to make greatest", Workers, Goal{diagnosis.P99, true}, six, "it is about throughput, and the goal is max(p99)"},
		{"five points", Workers, Goal{Metric: diagnosis.Elapsed}, six[:5], "it needs 6 points and more, and there are 5"},
		{"five points with runs", Workers, Goal{Metric: diagnosis.Elapsed}, failed, "it needs 6 points and more, and there are 5"},
		{"one point below one", Workers, Goal{Metric: diagnosis.Elapsed}, points(0, 0.5, 1, 2, 3, 4),
			"it needs 6 points and more, and there are 4"},
		{"seven points, one of them below one", Workers, Goal{Metric: diagnosis.Elapsed}, points(0.5, 1, 2, 3, 4, 5, 6), ""},
		{"without one", Workers, Goal{Metric: diagnosis.Elapsed}, points(2, 3, 4, 5, 6, 7),
			"it needs the throughput of one, and x=1 is not among the points"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Curve{Knob: Knob{Name: "x", Counts: tt.counts}, Goal: tt.goal, Points: tt.points}
			if got := c.uslRefusal(); got != tt.want {
				t.Errorf("uslRefusal() = %q, want %q", got, tt.want)
			}
		})
	}
}
