package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A Search is a search for the best setting: a line for each knob.
type Search struct {
	Name    string
	Subject string // what was run, in words; empty when not known
	Lines   []Line
}

// A Line is what was measured along one knob.
type Line struct {
	Knob   string
	Bytes  bool // its values are sizes
	Goal   diagnosis.Metric
	More   bool   // more of the goal is better
	Others string // what the other knobs had, in words
	// Chosen is the value that is recommended, nil without one.
	Chosen *float64
	Points []Point // by value
}

// A Point is one value of a knob. The goal with its 95% interval, and how it
// stands to the best that can be had (worse being above 1), are nil where the
// program failed or nothing is known.
type Point struct {
	Value  float64  `json:"value"`
	Goal   *float64 `json:"goal"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	ToBest *float64 `json:"to_best,omitempty"`
	Kept   bool     `json:"kept"` // it holds the limits
	Failed string   `json:"failed,omitempty"`
}

// A Curve is one knob of two searches.
type Curve struct {
	Knob string           `json:"knob"`
	Goal diagnosis.Metric `json:"goal"`
	// Bytes says that values are sizes, More that more of the goal is better.
	Bytes   bool          `json:"bytes,omitempty"`
	More    bool          `json:"more_is_better,omitempty"`
	ChosenA *float64      `json:"chosen_a"`
	ChosenB *float64      `json:"chosen_b"`
	A       []Point       `json:"a"`
	B       []Point       `json:"b"`
	Values  []ValueChange `json:"values"` // that both measured
}

// A ValueChange is what became of the goal at one value of a knob.
type ValueChange struct {
	Value float64 `json:"value"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	// Ratio is B/A, with the interval that follows from those of both; see
	// byIntervals.
	Ratio   *float64 `json:"ratio"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	P       *float64 `json:"p"` // corrected by Holm for the values of a curve
	Verdict Verdict  `json:"verdict"`
}

// searches compares two searches, knob by knob.
func searches(a, b *Search) (*Comparison, error) {
	c := &Comparison{Kind: kind, Schema: Schema, A: Side{Name: a.Name}, B: Side{Name: b.Name}}
	var parts []string
	partner := map[string]*Line{}
	for i := range b.Lines {
		partner[b.Lines[i].Knob] = &b.Lines[i]
	}
	for i := range a.Lines {
		x := &a.Lines[i]
		y := partner[x.Knob]
		delete(partner, x.Knob) // also where it is not like it: the report mentions it then
		if y == nil {
			c.OnlyA = append(c.OnlyA, x.words())
			continue
		}
		if x.Goal != y.Goal || x.More != y.More {
			c.Warnings = append(c.Warnings, fmt.Sprintf("the curves of %s cannot be compared: A is of %s, B of %s", x.Knob, x.goal(), y.goal()))
			continue
		}
		if x.Others != y.Others {
			c.Warnings = append(c.Warnings, fmt.Sprintf("while %s was searched the other knobs had %s in A, %s in B", x.Knob, cmp.Or(x.Others, "nothing"), cmp.Or(y.Others, "nothing")))
		}
		curve := curveOf(x, y)
		c.Curves = append(c.Curves, curve)
		parts = append(parts, curve.words())
	}
	for i := range b.Lines {
		if y := &b.Lines[i]; partner[y.Knob] == y {
			c.OnlyB = append(c.OnlyB, y.words())
		}
	}
	if len(c.Curves) == 0 {
		return nil, &Unlike{fmt.Sprintf("A searched %s, B searched %s", searched(a.Lines), searched(b.Lines))}
	}
	c.subjects(a.Subject, b.Subject)
	c.Warnings = append(c.Warnings, "the two searches did not take turns: whatever made all of one slower or faster is in each change")
	c.Summary = strings.Join(parts, "; ")
	return c, nil
}

// words name a line where it stands alone.
func (l *Line) words() string { return l.Knob + " for " + l.goal() }

func (l *Line) goal() string {
	if l.More {
		return "max(" + string(l.Goal) + ")"
	}
	return "min(" + string(l.Goal) + ")"
}

func searched(list []Line) string {
	var words []string
	for i := range list {
		words = append(words, list[i].words())
	}
	return joinNames(words)
}

func curveOf(x, y *Line) Curve {
	c := Curve{Knob: x.Knob, Goal: x.Goal, Bytes: x.Bytes, More: x.More, ChosenA: x.Chosen, ChosenB: y.Chosen,
		A: append([]Point{}, x.Points...), B: append([]Point{}, y.Points...), Values: []ValueChange{}}
	var p []float64
	for _, a := range c.A {
		b := at(c.B, a.Value)
		if b == nil {
			continue
		}
		if v, ok := valueChange(&a, b); ok {
			c.Values = append(c.Values, v)
			p = append(p, orNaN(v.P))
		}
	}
	for i, q := range statistics.Holm(p) {
		v := &c.Values[i]
		v.P = statistics.Finite(q)
		v.Verdict = v.judge(c.More)
	}
	return c
}

// at returns the point of a value, nil where there is none.
func at(points []Point, value float64) *Point {
	i := slices.IndexFunc(points, func(p Point) bool { return p.Value == value })
	if i < 0 {
		return nil
	}
	return &points[i]
}

func (p *Point) estimate() estimate { return estimate{orNaN(p.Goal), orNaN(p.Low), orNaN(p.High)} }

func valueChange(a, b *Point) (v ValueChange, ok bool) {
	if a.Goal == nil || b.Goal == nil || !(*a.Goal > 0) || !(*b.Goal > 0) || !sane(*a.Goal) || !sane(*b.Goal) {
		return v, false
	}
	v = ValueChange{Value: a.Value, A: *a.Goal, B: *b.Goal, Ratio: statistics.Finite(*b.Goal / *a.Goal)}
	if ea, eb := a.estimate(), b.estimate(); ea.usable() && eb.usable() {
		q, p := byIntervals(ea, eb)
		v.Low, v.High, v.P = statistics.Finite(q.low), statistics.Finite(q.high), statistics.Finite(p)
	}
	return v, true
}

func (v *ValueChange) judge(more bool) Verdict {
	switch {
	case v.P != nil && *v.P < alpha && v.Ratio != nil && *v.Ratio != 1:
		if (*v.Ratio > 1) == more {
			return Improved
		}
		return Regressed
	case v.Low != nil && v.High != nil && *v.Low >= 1/(1+Margin) && *v.High <= 1+Margin:
		return Same
	}
	return Inconclusive
}

// words say which setting each search recommends, what the first one's costs in
// the second, and what became of the goal where both measured it.
func (c *Curve) words() string {
	text := c.Knob + ": " + c.choices()
	if n := len(c.Values); n == 0 {
		return text + ", and no value was measured in both"
	}
	var parts []string
	for _, v := range []Verdict{Improved, Regressed} {
		if n := c.count(v); n > 0 {
			parts = append(parts, fmt.Sprintf("%s with %d", v, n))
		}
	}
	if len(parts) == 0 {
		return text + fmt.Sprintf(", and %s does not differ significantly with any of %d values", c.Goal, len(c.Values))
	}
	return text + fmt.Sprintf(", and of %d values %s %s", len(c.Values), c.Goal, strings.Join(parts, " and "))
}

func (c *Curve) choices() string {
	a, b := c.value(c.ChosenA), c.value(c.ChosenB)
	switch {
	case c.ChosenA == nil && c.ChosenB == nil:
		return "neither recommends a value"
	case c.ChosenA == nil:
		return "A recommends none, B " + b
	case c.ChosenB == nil:
		return "A recommends " + a + ", B none"
	case *c.ChosenA == *c.ChosenB:
		return "both recommend " + a
	}
	text := "A recommends " + a + ", B " + b
	if p := at(c.B, *c.ChosenA); p != nil && p.ToBest != nil && *p.ToBest > 0 && sane(*p.ToBest) {
		text += fmt.Sprintf(" (in B %s is %s from its best)", a, figures.Percent(math.Abs(*p.ToBest-1)))
	}
	return text
}

// value writes a value of the knob as one types it.
func (c *Curve) value(v *float64) string {
	switch {
	case v == nil:
		return "none"
	case c.Bytes && *v >= 1<<20 && math.Mod(*v, 1<<20) == 0:
		return strconv.FormatFloat(*v/(1<<20), 'g', 6, 64) + "MiB"
	case c.Bytes && *v >= 1<<10 && math.Mod(*v, 1<<10) == 0:
		return strconv.FormatFloat(*v/(1<<10), 'g', 6, 64) + "KiB"
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// Text writes a value of the knob as one types it.
func (c *Curve) Text(v float64) string { return c.value(&v) }

func (c *Curve) count(v Verdict) (n int) {
	for i := range c.Values {
		if c.Values[i].Verdict == v {
			n++
		}
	}
	return n
}
