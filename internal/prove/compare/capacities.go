package compare

import (
	"fmt"
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// A Capacity is how much load a program bears: one search for the greatest rate,
// or a table of them by setting.
type Capacity struct {
	Name    string
	Subject string // what load was offered to, in words; empty when not known
	Bracket
	// Table is set where Cells hold the rates of settings, and the bracket nothing.
	Table bool
	Cells []Cell
}

// A Bracket is what a search found: Low was sustained, twice, and High was not.
// Low is 0 when no rate was sustained, High when every one was.
type Bracket struct {
	Low   float64    `json:"low"`
	High  float64    `json:"high"`
	Limit string     `json:"limit,omitempty"` // what happened at High
	Steps []LoadStep `json:"steps"`
}

// A LoadStep is one rate that was offered, and what was done of it, a second.
type LoadStep struct {
	Rate  float64       `json:"rate"`
	Done  float64       `json:"done"`
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	Limit string        `json:"limit,omitempty"` // why it is not sustained
}

// A Cell is the rate that was sustained with one setting; NaN when none is known.
type Cell struct {
	Setting string
	Rate    float64
}

// A CapacityChange is two searches for a capacity, or two tables of them.
type CapacityChange struct {
	A *Bracket `json:"a,omitempty"`
	B *Bracket `json:"b,omitempty"`
	// Ratio is the middle of B's bracket to that of A's, on the log scale, with the
	// least and the greatest that both brackets allow. These are no 95% interval:
	// each side is one search.
	Ratio *float64 `json:"ratio,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Overlap says whether both brackets have a rate in common.
	Overlap bool  `json:"overlap"`
	Cells   []Row `json:"cells,omitempty"` // by setting
}

// capacities compares two searches, or two tables.
func capacities(a, b *Capacity) (*Comparison, error) {
	if a.Table != b.Table {
		one, other := "one capacity", "a table of capacities"
		if a.Table {
			one, other = other, one
		}
		return nil, &Unlike{"the first is " + one + ", the second " + other}
	}
	c := &Comparison{Kind: kind, Schema: Schema, A: Side{Name: a.Name}, B: Side{Name: b.Name}, Capacity: &CapacityChange{}}
	c.subjects(a.Subject, b.Subject)
	if a.Table {
		if c.cells(a, b); len(c.Capacity.Cells) == 0 {
			return nil, &Unlike{"the tables have no setting in common"}
		}
	} else {
		c.Capacity.brackets(&a.Bracket, &b.Bracket)
		c.Summary = c.Capacity.words()
	}
	c.Warnings = append(c.Warnings, "each capacity is of one search; how far two searches of the same program are apart is not known from these")
	return c, nil
}

func (c *Comparison) cells(a, b *Capacity) {
	better, worse := 0, 0
	partner := map[string]float64{}
	for _, y := range b.Cells {
		partner[y.Setting] = y.Rate
	}
	for _, x := range a.Cells {
		rate, ok := partner[x.Setting]
		if !ok {
			c.OnlyA = append(c.OnlyA, x.Setting)
			continue
		}
		delete(partner, x.Setting)
		r := Row{Group: "capacity", Name: x.Setting, Metric: diagnosis.OpsPerSec, Unit: fact.PerSec, State: true, More: true, A: statistics.Finite(x.Rate), B: statistics.Finite(rate)}
		c.Capacity.Cells = append(c.Capacity.Cells, r)
		if w, ok := r.Worse(); ok && w > 0 {
			worse++
		} else if ok && w < 0 {
			better++
		}
	}
	for _, y := range b.Cells {
		if _, left := partner[y.Setting]; left {
			delete(partner, y.Setting)
			c.OnlyB = append(c.OnlyB, y.Setting)
		}
	}
	c.Summary = fmt.Sprintf("of %d settings B bears more with %d and less with %d", len(c.Capacity.Cells), better, worse)
}

func (x *CapacityChange) brackets(a, b *Bracket) {
	x.A, x.B = unnulled(a), unnulled(b)
	x.Overlap = a.Low < b.top() && b.Low < a.top()
	if a.Low <= 0 || b.Low <= 0 || !sane(a.Low) || !sane(b.Low) {
		return
	}
	if a.High > 0 && sane(a.High) {
		x.Low = statistics.Finite(b.Low / a.High)
	}
	if b.High > 0 && sane(b.High) {
		x.High = statistics.Finite(b.High / a.Low)
	}
	if x.Low != nil && x.High != nil {
		x.Ratio = statistics.Finite(math.Sqrt(b.Low/a.Low) * math.Sqrt(b.High/a.High))
	}
}

// unnulled returns a bracket without lists that are null.
func unnulled(b *Bracket) *Bracket {
	c := *b
	c.Steps = append([]LoadStep{}, c.Steps...)
	return &c
}

// top returns where a bracket ends: nowhere, when every rate was sustained.
func (b *Bracket) top() float64 {
	if b.High > 0 {
		return b.High
	}
	return math.Inf(1)
}

func (b *Bracket) words() string {
	switch {
	case b.Low <= 0 && b.High > 0:
		return fmt.Sprintf("less than %s/s", figures.Number(b.High))
	case b.Low <= 0:
		return "not known"
	case b.High <= 0:
		return fmt.Sprintf("at least %s/s", figures.Number(b.Low))
	}
	return fmt.Sprintf("%s to %s/s", figures.Number(b.Low), figures.Number(b.High))
}

func (x *CapacityChange) words() string {
	text := "A bears " + x.A.words() + ", B " + x.B.words()
	switch {
	case x.Overlap:
		return text + ": the brackets overlap, so neither is shown to bear more"
	case x.Ratio != nil && x.Low != nil && x.High != nil:
		return fmt.Sprintf("%s: %s (%s … %s by the brackets)", text, changeText(*x.Ratio), changeText(*x.Low), changeText(*x.High))
	}
	return text
}
