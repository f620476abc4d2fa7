package experiment

import (
	"encoding/json"
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A Verdict is the result of one metric.
type Verdict string

// The verdicts.
const (
	Improved     Verdict = "improved"
	Regressed    Verdict = "regressed"
	Same         Verdict = "same" // within the margin
	Inconclusive Verdict = "inconclusive"
)

// An Effect is what happened to one metric. In JSON, what is not known or
// infinite is null.
type Effect struct {
	Metric  diagnosis.Metric
	Verdict Verdict
	// A and B are the medians, MinA and MinB the least.
	A, B       float64
	MinA, MinB float64
	// Ratio is the Hodges-Lehmann estimate of B/A, Low and High its 95%
	// interval by bootstrap over pairs. For exact counters it is the ratio of the
	// medians, and the interval the least and greatest ratio there was.
	Ratio, Low, High float64
	// P is that of the signed-rank test, two-sided, for all metrics but the
	// primary adjusted for their number (Holm); NaN for exact counters. It is not
	// adjusted for the number of looks: the levels are.
	P float64
	// Pairs is how many pairs measured it, 0 for exact counters that came from
	// counting alone.
	Pairs int
	// Exact is set for a counter that hardly varies, or by little beside what it
	// differs by: decided by its spread, not by statistics. It is inconclusive when it differs by more than it varies but
	// by too little for one of several counters.
	Exact bool
	// Need is about how many pairs would decide; 0 when it is decided.
	Need int
	// Open says in a few words why it is inconclusive although its interval excludes
	// 1, or why there is no interval; else empty.
	Open string
	// Guard is the limit when the metric was guarded (Guarded); Broken that it is
	// surely exceeded, Unclear that the interval contains the limit.
	Guarded         bool
	Guard           float64
	Broken, Unclear bool
}

// Worse returns by how much the metric became worse, as a ratio in the direction
// that is bad for it: of throughput it is A/B. With its 95% interval.
func (e Effect) Worse() (ratio, low, high float64) {
	if InfoOf(e.Metric).More {
		return 1 / e.Ratio, 1 / e.High, 1 / e.Low
	}
	return e.Ratio, e.Low, e.High
}

// effectJSON is an Effect with null for what JSON has no number for.
type effectJSON struct {
	Metric  diagnosis.Metric `json:"metric"`
	Verdict Verdict          `json:"verdict"`
	A       *float64         `json:"a"`
	B       *float64         `json:"b"`
	MinA    *float64         `json:"min_a"`
	MinB    *float64         `json:"min_b"`
	Ratio   *float64         `json:"ratio"`
	Low     *float64         `json:"low"`
	High    *float64         `json:"high"`
	P       *float64         `json:"p"`
	Pairs   int              `json:"pairs"`
	Exact   bool             `json:"exact,omitempty"`
	Need    int              `json:"need,omitempty"`
	Open    string           `json:"open,omitempty"`
	Guard   *float64         `json:"guard,omitempty"`
	Broken  bool             `json:"broken,omitempty"`
	Unclear bool             `json:"unclear,omitempty"`
}

// numbers pairs each field that may be null with its place in an Effect.
func (j *effectJSON) numbers(e *Effect) map[**float64]*float64 {
	return map[**float64]*float64{
		&j.A: &e.A, &j.B: &e.B, &j.MinA: &e.MinA, &j.MinB: &e.MinB,
		&j.Ratio: &e.Ratio, &j.Low: &e.Low, &j.High: &e.High, &j.P: &e.P,
	}
}

// MarshalJSON writes null for what is not a number.
func (e Effect) MarshalJSON() ([]byte, error) {
	j := effectJSON{
		Metric: e.Metric, Verdict: e.Verdict, Pairs: e.Pairs, Exact: e.Exact,
		Need: e.Need, Open: e.Open, Broken: e.Broken, Unclear: e.Unclear,
	}
	for to, from := range j.numbers(&e) {
		*to = statistics.Finite(*from)
	}
	if e.Guarded {
		j.Guard = &e.Guard
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote; null is NaN.
func (e *Effect) UnmarshalJSON(b []byte) error {
	var j effectJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*e = Effect{
		Metric: j.Metric, Verdict: j.Verdict, Pairs: j.Pairs, Exact: j.Exact,
		Need: j.Need, Open: j.Open, Broken: j.Broken, Unclear: j.Unclear,
	}
	for from, to := range j.numbers(e) {
		*to = orElse(*from, math.NaN())
	}
	if j.Guard != nil {
		e.Guarded, e.Guard = true, *j.Guard
	}
	return nil
}

// orElse returns a number from JSON, or what null means.
func orElse(v *float64, null float64) float64 {
	if v == nil {
		return null
	}
	return *v
}
