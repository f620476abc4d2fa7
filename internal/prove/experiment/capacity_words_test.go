package experiment

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What ended a rate, in words.
func TestExplainLimit(t *testing.T) {
	c := &climber{CapacitySearch: CapacitySearch{P99: 50 * time.Millisecond}}
	for _, tt := range []struct {
		step Step
		want string
	}{
		{Step{Limit: ByErrors, Offered: Offered{Failed: 0.25}}, "25.0% of the operations failed"},
		{Step{Limit: ByErrors, Offered: Offered{Failed: 0.25, Error: "refused"}}, "25.0% of the operations failed: refused"},
		{Step{Limit: ByLatency, Offered: Offered{P99: 80 * time.Millisecond}}, "the 99th percentile of latency was 80.0 ms, its bound is 50.0 ms"},
		{Step{Limit: ByBacklog, Offered: Offered{Done: 300, Rate: 400}}, "only 300 of 400 a second were done"},
		{Step{Limit: ByBacklog, Offered: Offered{Done: 100, Rate: 400}, Growth: &Interval{0, 0, 1}}, "only 100 of 400 a second were done, and the backlog was full from the start"},
		{Step{Limit: ByBacklog, Offered: Offered{Done: 300, Rate: 400}, Growth: &Interval{100, 90, 110}}, "the backlog grew by 100 operations each second (95%: 90 to 110)"},
	} {
		if got := c.explain(&tt.step); got != tt.want {
			t.Errorf("explain(%+v) = %q, want %q", tt.step, got, tt.want)
		}
	}
}

// A backlog that grows for all of a step but its first quarter is what no program goes on with.
func TestBacklogGrows(t *testing.T) {
	// A queue of so many operations at each tenth of a second.
	queue := func(at func(i int) float64) (s model.Series) {
		for i := range 41 {
			s = append(s, model.Point{At: time.Duration(i) * 100 * time.Millisecond, Value: at(i)})
		}
		return s
	}
	steadily := func(i int) float64 { return float64(i) }
	for _, tt := range []struct {
		name  string
		offer Offered
		known bool
		grows bool
	}{
		{"nothing waits", Offered{Rate: 100, Done: 100, Backlog: queue(func(int) float64 { return 0 })}, true, false},
		{"it fills, and stays", Offered{Rate: 100, Done: 100, Backlog: queue(func(i int) float64 { return float64(min(i, 10)) })}, true, false},
		{"it grows", Offered{Rate: 100, Done: 90, Backlog: queue(func(i int) float64 { return float64(i) })}, true, true},
		{"it grows by next to nothing", Offered{Rate: 1e6, Done: 1e6, Backlog: queue(func(i int) float64 { return float64(i) })}, true, false},
		{"it grows by more than half a hundredth of the rate", Offered{Rate: 1990, Done: 1990, Backlog: queue(steadily)}, true, true},
		{"it grows by less than that", Offered{Rate: 2010, Sent: 1000, Done: 2010, Backlog: queue(steadily)}, true, false},
		{"it shrinks", Offered{Rate: 100, Done: 100, Backlog: queue(func(i int) float64 { return float64(50 - i) })}, true, false},
		{"it is full from the start", Offered{Rate: 100, Done: 49, Backlog: queue(func(int) float64 { return 1000 })}, true, true},
		{"half is done", Offered{Rate: 100, Done: 50, Backlog: queue(func(int) float64 { return 1000 })}, true, false},
		{"a short step, nearly all done", Offered{Rate: 100, Done: 90}, false, false},
		{"a short step, and less done", Offered{Rate: 100, Done: 89}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			slope, grows := tt.offer.growth()
			if (slope != nil) != tt.known || grows != tt.grows {
				t.Errorf("growth() = %v, %v, want it known: %v, growing: %v", slope, grows, tt.known, tt.grows)
			}
		})
	}
}

// The slope is that of what comes after the first quarter, whenever the step began; of fewer than six points it is unknown.
func TestGrowthAfterSettling(t *testing.T) {
	for _, tt := range []struct {
		name   string
		points []float64 // one a second, from the first second on
		want   *Interval
		grows  bool
	}{
		// From the first second to the eighth are seven: the first quarter ends at 2.75 s.
		{"six after two that fall", []float64{100, 50, 30, 40, 50, 60, 70, 80}, &Interval{10, 10, 10}, true},
		{"six after two that rise", []float64{0, 90, 80, 70, 60, 50, 40, 30}, &Interval{-10, -10, -10}, false},
		{"five after two", []float64{100, 50, 30, 40, 50, 60, 70}, nil, false},
		{"none", nil, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Offered{Rate: 100, Done: 95}
			for i, v := range tt.points {
				o.Backlog = append(o.Backlog, model.Point{At: time.Duration(i+1) * time.Second, Value: v})
			}
			got, grows := o.growth()
			if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want || grows != tt.grows {
				t.Errorf("growth() = %v, %v, want %v, %v", got, grows, tt.want, tt.grows)
			}
		})
	}
}

// What a table says, whole: a wrong figure or a wrong word would send the reader elsewhere.
func TestStageInWords(t *testing.T) {
	const workers = "workers"
	inner := func(s Shape, growth, times, upTo float64) AxisShape {
		return AxisShape{workers, s, growth, times, upTo}
	}
	shared := "look at what they share: the machine's CPUs, the database, the disk, the partitions of a queue"
	for _, tt := range []struct {
		name             string
		in               AxisShape
		outer            Shape
		where, why, next string
	}{
		{"linear", inner(Linear, 7.5, 8, 0), Unknown, "the stage that workers multiplies",
			"capacity grows in proportion to workers, ×7.50 for ×8", "raise workers further; the next limit shows where the growth ends"},
		{"partial", inner(Partial, 3.5, 8, 0), Unknown, "first the stage that workers multiplies, then another",
			"capacity grows with workers, ×3.50 for ×8: the gain ends where another stage becomes the limit", ""},
		{"partial, known from where", inner(Partial, 3.5, 8, 4), Unknown, "first the stage that workers multiplies, then another",
			"capacity grows in proportion up to workers=4 and less beyond: another stage is the limit from there", ""},
		{"mixed", inner(Mixed, 3.5, 8, 0), Unknown, "different from setting to setting",
			"what workers brings depends on the other axes: there is more than one limit", ""},
		{"flat", inner(Flat, 1.05, 8, 0), Unknown, "not the stage that workers multiplies",
			"flat in workers (×1.05 for ×8): a stage beside it is the limit, or something outside the process",
			"a second process tells which: --table 'processes=1,2 × workers=…'"},
		{"falling, with processes linear", inner(Falling, 0.5, 8, 0), Linear, "a serial stage in each process, before or after the one that workers multiplies",
			"falling with workers (×0.500 for ×8) and linear in processes: each process brings its own of the stage that is the limit, and does one thing at a time there",
			"look at what each process does once: the consumer that reads, the writer, a lock around both, a commit that is waited for"},
		{"flat in both", inner(Flat, 1.05, 8, 0), Falling, "outside the processes, or in something that they share",
			"flat in workers (×1.05 for ×8) and flat in processes: neither more of the stage nor more processes bring anything", shared},
		{"flat, with processes partial", inner(Flat, 1.05, 8, 0), Partial, "a serial stage in each process, and soon something that they share",
			"flat in workers (×1.05 for ×8), and another process brings something, but less than its share", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got Stage
			got.byStage(tt.in, tt.outer)
			if got.Where != tt.where || got.Why != tt.why || got.Next != tt.next {
				t.Errorf("byStage: %q\n%q\n%q\nwant %q\n%q\n%q", got.Where, got.Why, got.Next, tt.where, tt.why, tt.next)
			}
		})
	}
	for growth, want := range map[float64]Shape{0.89: Falling, 0.9: Flat, 1.1: Flat, 1.11: Partial, 6.79: Partial, 6.8: Linear, 9: Linear} {
		if got := shape(growth, 8); got != want {
			t.Errorf("shape(%v, 8) = %s, want %s", growth, got, want)
		}
	}
}

// A cell is decided where more was seen to be too much, or where nobody searched for its rate.
func TestDecided(t *testing.T) {
	for _, tt := range []struct {
		name string
		cell Cell
		want bool
	}{
		{"a rate that was given", Cell{Rate: 100}, true},
		{"more was too much", Cell{Rate: 100, Limit: ByLatency, Search: &CapacityResult{}}, true},
		{"more was too much, without the search", Cell{Rate: 100, Limit: ByLatency}, true},
		{"nothing was too much", Cell{Rate: 100, Search: &CapacityResult{}}, false},
		{"the generator was the limit", Cell{Rate: 100, Limit: ByGenerator, Search: &CapacityResult{}}, false},
		{"nothing is sustained", Cell{Limit: ByErrors, Search: &CapacityResult{}}, false},
		{"it failed", Cell{Rate: 100, Failed: "cannot start"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.cell.Decided(); got != tt.want {
				t.Errorf("Decided() = %v, want %v", got, tt.want)
			}
		})
	}
}

// Of two axes the one is named that brings the greater share of what it could: an axis of 16 times that brings
// 10.5 times (0.85) before one of 2 times that brings 1.73 times (0.79), and one of 2 times that brings 1.87 times (0.9)
// before that.
func TestNearestAxisIsNamed(t *testing.T) {
	table := func(small float64) []Cell {
		return []Cell{
			{Setting: Setting{"small": 1, "large": 1}, Rate: 100},
			{Setting: Setting{"small": 2, "large": 1}, Rate: 100 * small},
			{Setting: Setting{"small": 1, "large": 16}, Rate: 1050},
		}
	}
	for _, axes := range [][]string{{"small", "large"}, {"large", "small"}} {
		for small, want := range map[float64]string{
			1.73: "first the stage that large multiplies, then another",
			1.87: "the stage that small multiplies",
		} {
			if got := Conclude(axes, table(small)).Where; got != want {
				t.Errorf("Conclude(%v) with ×%v for ×2 = %q, want %q", axes, small, got, want)
			}
		}
	}
}

// An axis has a shape from values on that are half as much apart again; the chain is in the order of its values.
func TestShapeOfAxis(t *testing.T) {
	cell := func(workers, rate float64) Cell { return Cell{Setting: Setting{"workers": workers}, Rate: rate} }
	for _, tt := range []struct {
		name  string
		cells []Cell
		want  AxisShape
	}{
		{"one value", []Cell{cell(2, 100)}, AxisShape{Shape: Unknown}},
		{"too near", []Cell{cell(10, 100), cell(14, 140)}, AxisShape{Shape: Unknown}},
		{"far enough", []Cell{cell(10, 100), cell(15, 150)}, AxisShape{Shape: Linear, Growth: 1.5, Times: 1.5}},
		{"in any order", []Cell{cell(4, 160), cell(2, 100), cell(3, 150)}, AxisShape{Shape: Partial, Growth: 1.6, Times: 2, LinearUpTo: 3}},
		{"partial from the start", []Cell{cell(1, 100), cell(2, 120), cell(4, 480)}, AxisShape{Shape: Linear, Growth: 4.8, Times: 4}},
		{"nowhere linear", []Cell{cell(1, 100), cell(2, 120), cell(4, 150)}, AxisShape{Shape: Partial, Growth: 1.5, Times: 4}},
		{"without it at all", []Cell{cell(0, 50), cell(1, 100), cell(2, 200)}, AxisShape{Shape: Linear, Growth: 2, Times: 2}},
		{"one failed", []Cell{cell(1, 100), cell(2, 200), {Setting: Setting{"workers": 4}, Rate: 100, Failed: "killed"}},
			AxisShape{Shape: Linear, Growth: 2, Times: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Axis = "workers"
			if got := shapeOf("workers", tt.cells); got != tt.want {
				t.Errorf("shapeOf = %v, want %v", got, tt.want)
			}
		})
	}
	// Where another axis has two values there are two chains: the medians are of both, and linear it is up to the less.
	two := []Cell{
		{Setting: Setting{"workers": 1, "batch": 1}, Rate: 100}, {Setting: Setting{"workers": 2, "batch": 1}, Rate: 200},
		{Setting: Setting{"workers": 8, "batch": 1}, Rate: 400}, {Setting: Setting{"workers": 1, "batch": 9}, Rate: 10},
		{Setting: Setting{"workers": 4, "batch": 9}, Rate: 40}, {Setting: Setting{"workers": 16, "batch": 9}, Rate: 60},
	}
	want := AxisShape{Axis: "workers", Shape: Partial, Growth: 5, Times: 12, LinearUpTo: 2}
	if got := shapeOf("workers", two); got != want {
		t.Errorf("shapeOf two chains = %v, want %v", got, want)
	}
}
