// Package fact is the arithmetic of a finding as values: what was measured, where,
// and what was computed from what.
//
// It hides how a number is counted in the evidence and how it is written. A [Fact]
// is born from a model by a [Meter], and then has an [Origin] of one of a closed set
// of kinds, or from other facts by a [Formula]. Whoever shows a finding asks the
// origin where its number can be seen; nobody reads words for it.
package fact

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A Unit is the unit of a number, in the words that JSON and text use.
type Unit string

// The units. Costs and bounds use those that can be ranked: cores, seconds, bytes, ratio.
const (
	Cores       Unit = "cores"   // CPU-seconds per second
	Seconds     Unit = "seconds" // of wall-clock time
	Bytes       Unit = "bytes"
	BytesPerSec Unit = "bytes per second"
	Ratio       Unit = "ratio"  // a share, 0 to 1
	Factor      Unit = "factor" // one quantity by another, 1 where they are equal
	Count       Unit = "count"
	PerSec      Unit = "per second"
)

// Format writes a value of the unit for people. Everything that shows a fact
// shows it so: a sentence, a table and the page never disagree.
func (u Unit) Format(v float64) string {
	switch u {
	case Seconds:
		return figures.Seconds(v)
	case Bytes:
		return figures.Bytes(v)
	case BytesPerSec:
		return figures.Bytes(v) + "/s"
	case Ratio:
		if v > 1.0005 || v < -1.0005 { // schema 1 had no unit for factors
			return figures.Times(v)
		}
		return figures.Percent(v)
	case Factor:
		return figures.Times(v)
	case PerSec:
		return figures.Number(v) + "/s"
	case Cores:
		return figures.Cores(v)
	case Count:
		return figures.Number(v)
	}
	return figures.Number(v) + " " + string(u) // of a benchmark of somebody's own
}

// A Fact is one number behind a finding. It was either measured, and then its
// Origin says in which evidence and what was counted there, or computed from
// other facts, which are its Operands, by the Formula.
type Fact struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  Unit    `json:"unit"`
	// Text is the value for people.
	Text     string `json:"text"`
	Origin   Origin `json:"origin"`
	Operands []Fact `json:"operands,omitempty"`
}

// fact makes one, with its text.
func fact(name string, v float64, u Unit, o Origin, operands ...Fact) Fact {
	o.Text = o.String()
	return Fact{Name: name, Value: v, Unit: u, Text: u.Format(v), Origin: o, Operands: operands}
}

// Named returns the same fact under another name, for the rule that counts with it.
func (f Fact) Named(name string) Fact {
	f.Name = name
	return f
}

// Measured reports whether the fact was read from evidence, and not computed.
func (f Fact) Measured() bool { return f.Origin.Kind != Computed }

// Duration returns the value of a fact in seconds.
func (f Fact) Duration() time.Duration { return time.Duration(f.Value * float64(time.Second)) }

// Larger returns the larger of two facts of one unit; the zero Fact is the least.
func (f Fact) Larger(g Fact) Fact {
	if g.Value > f.Value {
		return g
	}
	return f
}

// Finite reports whether the fact and all that it was computed from can be saved.
func (f Fact) Finite() bool {
	return !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0) && !slices.ContainsFunc(f.Operands, func(o Fact) bool { return !o.Finite() })
}

// Same reports whether two facts are of one thing: their names may differ.
func (f Fact) Same(g Fact) bool {
	return f.Value == g.Value && f.Unit == g.Unit && f.Origin.same(&g.Origin) && slices.EqualFunc(f.Operands, g.Operands, Fact.Same)
}

// UnmarshalJSON reads a fact of schema 1, too, which had words for its origin.
func (f *Fact) UnmarshalJSON(b []byte) error {
	type plain Fact
	old := struct {
		*plain
		Source string `json:"source"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(b, &old); err != nil {
		return err
	}
	if f.Origin.Kind == "" {
		f.Text, f.Origin = f.Unit.Format(f.Value), Words(old.Source)
	}
	return nil
}
