package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// Processes is the axis of a table that is how many copies of the program run
// beside each other. All others are knobs of each copy.
const Processes = "processes"

// A CapacityTable is the capacity of a program over settings. It is saved as
// JSON.
type CapacityTable struct {
	Schema int      `json:"schema"`
	Axes   []string `json:"axes"`
	Cells  []Cell   `json:"cells"`
	// Conclusion follows from the cells alone, see [Conclude].
	Conclusion Stage `json:"conclusion"`
}

// A Cell is the capacity with one setting.
type Cell struct {
	Setting Setting         `json:"setting"`
	Rate    float64         `json:"rate"` // sustained, operations a second
	Limit   Limit           `json:"limit,omitempty"`
	Search  *CapacityResult `json:"search,omitempty"`
	Failed  string          `json:"failed,omitempty"` // why there is no rate
}

// Decided reports whether the rate is the program's limit: it was seen to be too much a
// little above.
func (c *Cell) Decided() bool {
	return c.Failed == "" && c.Rate > 0 && c.Limit != ByGenerator && (c.Limit != "" || c.Search == nil)
}

// Encode writes the table as JSON, with a first field that says what it is.
func (t *CapacityTable) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Kind string `json:"kind"`
		*CapacityTable
	}{"gowhy capacity table", t})
}

// A Shape is how capacity follows an axis.
type Shape string

// The shapes.
const (
	Flat    Shape = "flat"    // at most 1.1 times as much from one end to the other
	Linear  Shape = "linear"  // within 15% of in proportion
	Partial Shape = "partial" // between the two
	Falling Shape = "falling" // less by a tenth and more
	Mixed   Shape = "mixed"   // different for different values of other axes
	Unknown Shape = "unknown" // fewer than two values that can be compared
)

const (
	flatBelow   = 1.1
	linearShort = 0.85 // of in proportion, at least
	fallsBelow  = 0.9
	apart       = 1.5 // values nearer than this cannot tell flat from linear
)

// An AxisShape is how capacity follows one axis, the others being equal.
type AxisShape struct {
	Axis  string `json:"axis"`
	Shape Shape  `json:"shape"`
	// Growth is how many times as much there is at the largest value as at the
	// smallest, and Times how many times as large that is: medians over the
	// settings of the other axes.
	Growth float64 `json:"growth"`
	Times  float64 `json:"times"`
	// LinearUpTo is the value up to which a partial shape is linear; 0 when it is nowhere.
	LinearUpTo float64 `json:"linear_up_to,omitempty"`
}

// A Stage is what a table allows to say about where the limit is.
type Stage struct {
	Shapes []AxisShape `json:"shapes"`
	// Where is the conclusion in a few words, Why the reasoning, Next what
	// would tell more or help.
	Where string `json:"where"`
	Why   string `json:"why"`
	Next  string `json:"next,omitempty"`
}

// Conclude says which stage of a program limits it, from capacities over
// settings. Cells that are not decided count as unknown.
func Conclude(axes []string, cells []Cell) (s Stage) {
	for _, a := range axes {
		s.Shapes = append(s.Shapes, shapeOf(a, cells))
	}
	if n := busyCells(cells); n > 0 && slices.ContainsFunc(s.Shapes, func(a AxisShape) bool { return a.Shape == Mixed }) {
		s.Where = "unclear from this table"
		s.Why = fmt.Sprintf("the capacities contradict each other, and the machine was busy with other programs while %d of %d were searched", n, len(cells))
		s.Next = "measure again when the machine is quiet"
		return s
	}
	defer func() {
		undecided := 0
		for i := range cells {
			if !cells[i].Decided() {
				undecided++
			}
		}
		if undecided > 0 {
			s.Why += fmt.Sprintf("; %d of %d cells are not decided and were left out", undecided, len(cells))
		}
	}()
	outer := Unknown
	var inner []AxisShape
	for _, a := range s.Shapes {
		if a.Axis == Processes {
			outer = a.Shape
		} else if a.Shape != Unknown {
			inner = append(inner, a)
		}
	}
	switch len(inner) {
	case 0:
		s.byProcesses(outer)
	default:
		// The axis that helps most is nearest to the limit.
		s.byStage(slices.MaxFunc(inner, func(a, b AxisShape) int { return cmp.Compare(helps(a), helps(b)) }), outer)
	}
	return s
}

// busyCells counts the searches for which steps had to count although other
// programs took part of the machine.
func busyCells(cells []Cell) (n int) {
	for i := range cells {
		if r := cells[i].Search; r != nil && r.Dropped >= maxBusySteps {
			n++
		}
	}
	return n
}

// helps returns the share of what an axis could bring that it brings.
func helps(a AxisShape) float64 { return math.Log(a.Growth) / math.Log(a.Times) }

func (s *Stage) byProcesses(outer Shape) {
	switch outer {
	case Linear:
		s.Where = "inside each process"
		s.Why = "capacity grows with the number of processes: nothing that they share is the limit, and each brings its own of what is"
		s.Next = "add a knob of the program to the table, like its concurrency: it tells whether that stage or one beside it is the limit"
	case Flat, Falling:
		s.Where = "outside the processes, or in something that they share"
		s.Why = "another process brings nothing: the machine, a server behind them, a lock or a file that all use is full already"
		s.Next = "look at what they share: the machine's CPUs, the database, the disk, the partitions of a queue"
	case Partial:
		s.Where = "partly inside each process, partly in what they share"
		s.Why = "another process brings something, and less than its share"
	default:
		s.Where = "unclear from this table"
		s.Why = "it needs at least two capacities that differ in one axis only"
	}
}

func (s *Stage) byStage(in AxisShape, outer Shape) {
	name := in.Axis
	switch in.Shape {
	case Linear:
		s.Where = "the stage that " + name + " multiplies"
		s.Why = fmt.Sprintf("capacity grows in proportion to %s, ×%s for ×%s", name, figures.Number(in.Growth), figures.Number(in.Times))
		s.Next = "raise " + name + " further; the next limit shows where the growth ends"
	case Partial:
		s.Where = "first the stage that " + name + " multiplies, then another"
		s.Why = fmt.Sprintf("capacity grows with %s, ×%s for ×%s: the gain ends where another stage becomes the limit", name, figures.Number(in.Growth), figures.Number(in.Times))
		if in.LinearUpTo > 0 {
			s.Why = fmt.Sprintf("capacity grows in proportion up to %s=%s and less beyond: another stage is the limit from there", name, figures.Number(in.LinearUpTo))
		}
	case Mixed:
		s.Where = "different from setting to setting"
		s.Why = "what " + name + " brings depends on the other axes: there is more than one limit"
	default:
		s.flat(in, outer)
	}
}

// flat says what the case study did: more of the stage in the middle brings nothing.
func (s *Stage) flat(in AxisShape, outer Shape) {
	what := fmt.Sprintf("flat in %s (×%s for ×%s)", in.Axis, figures.Number(in.Growth), figures.Number(in.Times))
	if in.Shape == Falling {
		what = fmt.Sprintf("falling with %s (×%s for ×%s)", in.Axis, figures.Number(in.Growth), figures.Number(in.Times))
	}
	switch outer {
	case Linear:
		s.Where = "a serial stage in each process, before or after the one that " + in.Axis + " multiplies"
		s.Why = what + " and linear in processes: each process brings its own of the stage that is the limit, and does one thing at a time there"
		s.Next = "look at what each process does once: the consumer that reads, the writer, a lock around both, a commit " +
			"that is waited for"
	case Flat, Falling:
		s.Where = "outside the processes, or in something that they share"
		s.Why = what + " and flat in processes: neither more of the stage nor more processes bring anything"
		s.Next = "look at what they share: the machine's CPUs, the database, the disk, the partitions of a queue"
	case Partial:
		s.Where = "a serial stage in each process, and soon something that they share"
		s.Why = what + ", and another process brings something, but less than its share"
	default:
		s.Where = "not the stage that " + in.Axis + " multiplies"
		s.Why = what + ": a stage beside it is the limit, or something outside the process"
		s.Next = "a second process tells which: --table 'processes=1,2 × " + in.Axis + "=…'"
	}
}

// shapeOf looks at the cells that differ in one axis only.
func shapeOf(axis string, cells []Cell) AxisShape {
	out := AxisShape{Axis: axis, Shape: Unknown}
	var shapes []Shape
	var growth, times, upTo []float64
	for _, chain := range chains(axis, cells) {
		first, last := chain[0], chain[len(chain)-1]
		g, t := last.Rate/first.Rate, last.Setting[axis]/first.Setting[axis]
		shapes = append(shapes, shape(g, t))
		growth, times = append(growth, g), append(times, t)
		upTo = append(upTo, linearUpTo(axis, chain))
	}
	if len(shapes) == 0 {
		return out
	}
	out.Shape, out.Growth, out.Times = shapes[0], middle(growth), middle(times)
	for _, s := range shapes {
		if s != out.Shape {
			out.Shape = Mixed
		}
	}
	if out.Shape == Partial {
		out.LinearUpTo = slices.Min(upTo)
	}
	return out
}

func shape(growth, times float64) Shape {
	switch {
	case growth < fallsBelow:
		return Falling
	case growth <= flatBelow:
		return Flat
	case growth >= linearShort*times:
		return Linear
	}
	return Partial
}

// linearUpTo returns the largest value of the chain up to which the rate is in
// proportion; 0 when not even the second is.
func linearUpTo(axis string, chain []*Cell) (upTo float64) {
	first := chain[0]
	for _, c := range chain[1:] {
		if shape(c.Rate/first.Rate, c.Setting[axis]/first.Setting[axis]) != Linear {
			break
		}
		upTo = c.Setting[axis]
	}
	return upTo
}

// chains returns the cells that differ in one axis only, each chain in its order.
func chains(axis string, cells []Cell) (list [][]*Cell) {
	by := map[string][]*Cell{}
	for i := range cells {
		c := &cells[i]
		if !c.Decided() || !(c.Setting[axis] > 0) {
			continue
		}
		var key strings.Builder
		for _, k := range slices.Sorted(maps.Keys(c.Setting)) {
			if k != axis {
				fmt.Fprintf(&key, "%s=%v ", k, c.Setting[k])
			}
		}
		by[key.String()] = append(by[key.String()], c)
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		chain := by[key]
		slices.SortFunc(chain, func(a, b *Cell) int { return cmp.Compare(a.Setting[axis], b.Setting[axis]) })
		if chain[len(chain)-1].Setting[axis] >= apart*chain[0].Setting[axis] {
			list = append(list, chain)
		}
	}
	return list
}
