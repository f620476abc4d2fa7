package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// Schema is the version of the JSON form of [Result].
const Schema = 1

const kind = "gowhy gate"

// A Verdict is that of a measure, of a check, or of all.
type Verdict string

// The verdicts, the worse the later.
const (
	Passed       Verdict = "passed"
	Improved     Verdict = "improved"     // passed, and surely better
	Inconclusive Verdict = "inconclusive" // could not be decided, or not be measured
	Regressed    Verdict = "regressed"
)

// A Result is what came of a policy. It is saved as JSON, and every report is
// made of it.
type Result struct {
	Kind   string `json:"kind"`
	Schema int    `json:"schema"`
	// Verdict is passed, regressed, or inconclusive; the last one only where
	// the policy lets that fail.
	Verdict Verdict `json:"verdict"`
	Summary string  `json:"summary"`
	// InconclusiveFails is the policy's word on what an inconclusive verdict is.
	InconclusiveFails bool          `json:"inconclusive_fails,omitempty"`
	Policy            string        `json:"policy"` // path of the file, from the repository's root
	Base              Revision      `json:"base"`
	Head              Revision      `json:"head"`
	Checks            []Check       `json:"checks"`
	Floor             float64       `json:"floor,omitempty"` // noise of the machine as a ratio-1, where time was measured
	Took              time.Duration `json:"took_ns"`
	Warnings          []string      `json:"warnings,omitempty"`
}

// A Revision is one of the two sides.
type Revision struct {
	Name   string `json:"name"` // as it was asked for
	Commit string `json:"commit"`
	// Modified is set for a working tree that differs from its commit.
	Modified bool `json:"modified,omitempty"`
}

// A Check is the result of one check of the policy.
type Check struct {
	Name    string  `json:"name"`
	Package string  `json:"package"`
	Bench   string  `json:"bench,omitempty"`
	Command string  `json:"command,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Problem says why nothing could be measured.
	Problem  string        `json:"problem,omitempty"`
	At       Position      `json:"at"` // in the policy
	Measures []Measure     `json:"measures"`
	Warnings []string      `json:"warnings,omitempty"`
	Took     time.Duration `json:"took_ns"`
}

// A Measure is one metric of one benchmark, or of a command.
type Measure struct {
	Benchmark string           `json:"benchmark,omitempty"` // without "Benchmark"
	Metric    diagnosis.Metric `json:"metric"`
	Verdict   Verdict          `json:"verdict"`
	Why       string           `json:"why"`
	// A is the median of the base, B that of the change.
	A     *float64 `json:"a"`
	B     *float64 `json:"b"`
	Ratio *float64 `json:"ratio,omitempty"` // B/A; nil when A is 0
	Low   *float64 `json:"low,omitempty"`   // its 95% interval, where there is one
	High  *float64 `json:"high,omitempty"`
	P     *float64 `json:"p,omitempty"`
	Limit float64  `json:"limit"` // how much worse is allowed, ratio-1
	// Exact is set for a counter that was decided by its spread.
	Exact bool `json:"exact,omitempty"`
	Pairs int  `json:"pairs,omitempty"` // of rounds, where it was not exact
	// Again is what the second measurement said, where there was one.
	Again string   `json:"again,omitempty"`
	At    Position `json:"at"` // the benchmark, else the limit in the policy
}

// A Position is a line of a file, by its path from the repository's root.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// worse turns a ratio B/A into how much worse B is, as a ratio-1.
func worse(m diagnosis.Metric, ratio float64) float64 {
	switch {
	case !experiment.InfoOf(m).More:
		return ratio - 1
	case ratio <= 0:
		return math.MaxFloat64
	}
	return 1/ratio - 1
}

// rank orders verdicts: the whole is what its worst part is.
func rank(v Verdict) int {
	switch v {
	case Regressed:
		return 2
	case Inconclusive:
		return 1
	}
	return 0
}

// conclude draws the verdicts of checks and of the whole from their parts.
func (r *Result) conclude() {
	r.Kind, r.Schema, r.Verdict = kind, Schema, Passed
	n := map[Verdict]int{}
	all := 0
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Verdict = Passed
		if c.Problem != "" {
			c.Verdict = Inconclusive
		}
		for _, m := range c.Measures {
			n[m.Verdict]++
			all++
			if rank(m.Verdict) > rank(c.Verdict) {
				c.Verdict = m.Verdict
			}
		}
		if c.Problem != "" {
			n[Inconclusive]++
		}
		if rank(c.Verdict) > rank(r.Verdict) {
			r.Verdict = c.Verdict
		}
	}
	if r.Verdict == Inconclusive && !r.InconclusiveFails {
		r.Verdict = Passed
	}
	r.Summary = summary(n, all)
}

func summary(n map[Verdict]int, all int) string {
	text := "nothing regressed in " + figures.Plural(all, "measure")
	switch decided := n[Passed] + n[Improved] + n[Regressed]; {
	case decided == 0 && n[Inconclusive] > 0:
		return "nothing could be decided"
	case n[Regressed] > 0:
		text = fmt.Sprintf("%d of %s regressed", n[Regressed], figures.Plural(all, "measure"))
	}
	if n[Improved] > 0 {
		text += fmt.Sprintf(", %d improved", n[Improved])
	}
	if n[Inconclusive] > 0 {
		text += fmt.Sprintf(", %d inconclusive", n[Inconclusive])
	}
	return text
}

// Encode writes the result as indented JSON, ended by a newline.
func (r *Result) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// ErrSchema is returned, wrapped, by [Decode] for what is no result of this schema.
var ErrSchema = errors.New("not a result of gowhy gate that this version reads")

// Decode reads what [Result.Encode] wrote.
func Decode(r io.Reader) (*Result, error) {
	res := new(Result)
	if err := experiment.DecodeSaved(r, kind, Schema, res); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return res, nil
}
