package compare

import (
	"encoding/json"
	"io"
	"math"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Schema is the version of the JSON form of [Comparison].
const Schema = 1

// kind marks the JSON of a comparison.
const kind = "gowhy comparison"

// A Verdict is what repeated measurements say of one quantity.
type Verdict string

// The verdicts.
const (
	Improved     Verdict = "improved"
	Regressed    Verdict = "regressed"
	Changed      Verdict = "changed" // significantly, in a unit of which nobody said whether more is better
	Same         Verdict = "same"    // within [Margin]
	Inconclusive Verdict = "inconclusive"
)

// Margin is the ratio-1 within which two medians are the same.
const Margin = 0.02

// A Base is what quantities were divided by to be comparable.
type Base string

// The bases.
const (
	PerOperation Base = "operation"
	PerSecond    Base = "second"
	PerRun       Base = "run" // nothing: the whole of what was recorded
)

// A Comparison is what changed from A to B.
type Comparison struct {
	Kind    string `json:"kind"`
	Schema  int    `json:"schema"`
	Summary string `json:"summary"`
	A       Side   `json:"a"`
	B       Side   `json:"b"`

	// Of recordings, traces, profiles and results of load tests. There are no
	// verdicts: each is a single run.
	Findings []FindingChange `json:"findings,omitempty"`
	// Per is what the rows of the ledger are divided by; rows of states, like
	// the live heap, are not.
	Per    Base    `json:"per,omitempty"`
	Ledger []Row   `json:"ledger,omitempty"`
	Tables []Table `json:"tables,omitempty"`

	// Of benchmarks with their repetitions, by package, name and unit.
	Benchmarks []Benchmark `json:"benchmarks,omitempty"`
	Means      []Mean      `json:"means,omitempty"`
	OnlyA      []string    `json:"only_a,omitempty"`
	OnlyB      []string    `json:"only_b,omitempty"`

	// Of trials: what a change brought then and brings now, and the findings that
	// it removed or brought.
	Effects []Effect      `json:"effects,omitempty"`
	Claims  []ClaimChange `json:"claims,omitempty"`

	// Of searches: the curves of their knobs, or the capacities.
	Curves   []Curve         `json:"curves,omitempty"`
	Capacity *CapacityChange `json:"capacity,omitempty"`

	Warnings []string  `json:"warnings,omitempty"`
	Next     []Command `json:"next,omitempty"`

	unlike bool // the runs are of different programs
}

// A Side is one of the two things compared.
type Side struct {
	Name    string  `json:"name"`
	Go      string  `json:"go,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // of what was recorded
	// Operations done in that time, and what they are; 0 when not known.
	Operations float64 `json:"operations,omitempty"`
	Operation  string  `json:"operation,omitempty"`
	Verdict    string  `json:"verdict,omitempty"` // of its diagnosis
}

// A Command is what a reader would run now, and why.
type Command struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// A Row is one quantity of both sides. A side that did not measure it is nil.
type Row struct {
	Group  string           `json:"group"` // work, CPU, memory, system, goroutines, collector, latency
	Name   string           `json:"name"`
	Metric diagnosis.Metric `json:"metric,omitempty"` // where a limit can name it
	Unit   fact.Unit        `json:"unit"`
	State  bool             `json:"state,omitempty"` // a size or a rate, divided by nothing
	More   bool             `json:"more_is_better,omitempty"`
	A      *float64         `json:"a"`
	B      *float64         `json:"b"`

	resource model.Resource // of what operations used, with its part
	part     string
}

// Ratio is B/A; false when a side is missing or A is 0.
func (r *Row) Ratio() (float64, bool) {
	if r.A == nil || r.B == nil || *r.A == 0 {
		return 0, false
	}
	ratio := *r.B / *r.A
	return ratio, finite(ratio)
}

// Worse returns how much worse B is, as a ratio-1; negative when it is better. False when
// there is no ratio.
func (r *Row) Worse() (float64, bool) {
	ratio, ok := r.Ratio()
	if !ok {
		return 0, false
	}
	return worse(ratio, r.More), true
}

// worse turns a ratio B/A into how much worse B is, as a ratio-1.
func worse(ratio float64, more bool) float64 {
	if !more {
		return ratio - 1
	}
	if ratio <= 0 {
		return math.MaxFloat64
	}
	return 1/ratio - 1
}

// finite reports whether JSON can have the number.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// largest bounds what is compared, and its inverse what is not zero: no program
// measures more or less, and the ratios of such numbers are all finite.
const largest = 1e100

// sane reports whether a number can be compared.
func sane(v float64) bool { return v == 0 || math.Abs(v) >= 1/largest && math.Abs(v) <= largest }

// Encode writes the comparison as indented JSON, ended by a newline.
func (c *Comparison) Encode(w io.Writer) error {
	c.Kind, c.Schema = kind, Schema
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(c)
}
