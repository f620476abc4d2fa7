package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/diagnosis"
)

// The form of saved trials.
const (
	TrialKind   = "gowhy trial"
	TrialSchema = 1
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

// A Conclusion is what a trial says about the prescription.
type Conclusion string

// The conclusions.
const (
	Confirmed Conclusion = "confirmed" // the primary metric improved and no guard is broken
	Rejected  Conclusion = "rejected"  // it is no gain beyond the margin, or a guard is broken
	Undecided Conclusion = "undecided"
)

// A Trial is what came of a plan: what was declared before, the rounds, and what
// they say. It is saved as JSON.
type Trial struct {
	Kind       string           `json:"kind"` // TrialKind
	Schema     int              `json:"schema"`
	Primary    diagnosis.Metric `json:"primary"`
	Conclusion Conclusion       `json:"conclusion"`
	Why        string           `json:"why"` // of the conclusion, a sentence
	// Effects are by metric, the primary first, then the guards, then counters.
	Effects []Effect `json:"effects"`
	Guards  []Guard  `json:"guards"`
	Margin  float64  `json:"margin"`
	Floor   float64  `json:"floor,omitempty"` // of the machine, for 10 pairs; see Noise
	Gate    Gate     `json:"gate"`
	// Most is the greatest number of pairs, as planned. Pairs is how many were
	// counted, Dropped how many were not, Looks at how many pairs the data was
	// looked at.
	Most    int   `json:"most"`
	Pairs   int   `json:"pairs"`
	Dropped int   `json:"dropped"`
	Looks   []int `json:"looks"`
	// Busy is set when so many rounds met a busy machine that all of them count.
	Busy   bool          `json:"busy,omitempty"`
	Took   time.Duration `json:"took_ns"`
	Seed   uint64        `json:"seed"`
	Rounds []Round       `json:"rounds"`
	// Predicted is what was expected before, nil when nothing was.
	Predicted *Prediction `json:"predicted,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
	// About says what was compared, for readers; no verdict rests on it.
	About About `json:"about,omitzero"`

	draws   int // of intervals, when tests want fewer
	nominal nominal
}

// An Effect is what happened to one metric. In JSON, what is not known or
// infinite is null.
type Effect struct {
	Metric  diagnosis.Metric
	Verdict Verdict
	// A and B are the medians, MinA and MinB the least.
	A, B       float64
	MinA, MinB float64
	// Ratio is the Hodges-Lehmann estimate of B/A, Low and High its 95 %
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
	// Exact is set for a counter that hardly varies: decided by its spread, not
	// by statistics.
	Exact bool
	// Need is about how many pairs would decide; 0 when it is decided.
	Need int
	// Guard is the limit when the metric was guarded (Guarded); Broken that it is
	// surely exceeded, Unclear that the interval contains the limit.
	Guarded         bool
	Guard           float64
	Broken, Unclear bool
}

// Worse is by how much the metric became worse, as a ratio in the direction
// that is bad for it: of throughput it is A/B. With its 95 % interval.
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
		Need: e.Need, Broken: e.Broken, Unclear: e.Unclear,
	}
	for to, from := range j.numbers(&e) {
		if !math.IsNaN(*from) && !math.IsInf(*from, 0) {
			*to = from
		}
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
		Need: j.Need, Broken: j.Broken, Unclear: j.Unclear,
	}
	for from, to := range j.numbers(e) {
		*to = math.NaN()
		if *from != nil {
			*to = **from
		}
	}
	if j.Guard != nil {
		e.Guarded, e.Guard = true, *j.Guard
	}
	return nil
}

// A Round is one run of one arm.
type Round struct {
	// Pair counts from 1; what is before the first pair, counting and warming
	// up, has 0.
	Pair  int    `json:"pair"`
	Arm   string `json:"arm"` // "A" or "B"
	Count bool   `json:"count,omitempty"`
	// Dropped says why the round was not counted; empty when it was.
	Dropped string `json:"dropped,omitempty"`
	Sample
}

const warmUp = "warm-up"

// A Prediction is a bound or an estimate of an effect, with its method.
type Prediction struct {
	Metric diagnosis.Metric `json:"metric"`
	// Best is the least (or for rates the greatest) ratio B/A that the bound
	// allows; Estimate is a what-if's, 0 when there is none.
	Best     float64 `json:"best"`
	Estimate float64 `json:"estimate,omitempty"`
	Method   string  `json:"method"`
}

// These bound what DecodeTrial reads: the largest trial there can be has four
// rounds of each pair and as many dropped ones. Metrics are a dozen, and three
// for each benchmark.
const (
	maxTrial   = 64 << 20
	maxRounds  = 8*MaxPairs + 16
	maxMetrics = 1000
)

// ErrTrial is returned, wrapped, by [DecodeTrial] for what is not a trial.
var ErrTrial = errors.New("not a trial that this version reads")

// Encode writes the trial as indented JSON, ended by a newline. Lists without
// members are [], never null.
func (t *Trial) Encode(w io.Writer) error {
	out := *t
	out.Kind, out.Schema = TrialKind, TrialSchema
	out.fill()
	for i, r := range out.Rounds {
		out.Rounds[i].Sample = r.Sample.clean(r.Count)
	}
	if p := t.Predicted; p != nil {
		out.Predicted = &Prediction{p.Metric, finite(p.Best), finite(p.Estimate), p.Method}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(&out)
}

// finite is 0 for what JSON has no number for.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func (t *Trial) fill() {
	t.Effects = append([]Effect{}, t.Effects...)
	t.Guards = append([]Guard{}, t.Guards...)
	t.Looks = append([]int{}, t.Looks...)
	t.Rounds = append([]Round{}, t.Rounds...)
}

// DecodeTrial reads what [Trial.Encode] wrote.
func DecodeTrial(r io.Reader) (*Trial, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTrial+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxTrial {
		return nil, fmt.Errorf("%w: larger than %d MiB", ErrTrial, maxTrial>>20)
	}
	// The schema first: another version's fields may not even have our types.
	var head struct {
		Kind   string `json:"kind"`
		Schema int    `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrTrial, err)
	}
	if head.Kind != TrialKind || head.Schema != TrialSchema {
		return nil, fmt.Errorf("%w: kind %q, schema %d; wanted %q, %d", ErrTrial, head.Kind, head.Schema, TrialKind, TrialSchema)
	}
	t := new(Trial)
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrTrial, err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrTrial, err)
	}
	t.fill()
	return t, nil
}

// check holds a trial from elsewhere to what Verify would have made.
func (t *Trial) check() error {
	switch {
	case len(t.Rounds) > maxRounds:
		return fmt.Errorf("more than %d rounds", maxRounds)
	case t.Most < 1 || t.Most > MaxPairs:
		return fmt.Errorf("%d pairs planned, not 1 to %d", t.Most, MaxPairs)
	case len(t.allMetrics()) > maxMetrics:
		return fmt.Errorf("more than %d metrics", maxMetrics)
	case t.Margin < 0 || t.Floor < 0:
		return errors.New("margin or noise floor is negative")
	}
	for i, r := range t.Rounds {
		if r.Arm != "A" && r.Arm != "B" {
			return fmt.Errorf("round %d is of arm %q", i, r.Arm)
		}
		t.Rounds[i].Sample = r.Sample.clean(r.Count)
	}
	for _, g := range t.Guards {
		if g.Limit < 0 {
			return fmt.Errorf("the guard %s has a negative limit", g.Metric)
		}
	}
	return nil
}

// clean leaves only values that can be compared: a ratio needs numbers that are
// finite and not negative. The duration of a run is a metric of its own, unless
// everything was counted, which takes time: of such runs no time is compared.
func (s Sample) clean(counted bool) Sample {
	values := make(map[diagnosis.Metric]float64, len(s.Values)+1)
	for m, v := range s.Values {
		if v >= 0 && !math.IsInf(v, 0) && !(counted && InfoOf(m).timed()) {
			values[m] = v
		}
	}
	if _, has := values[diagnosis.Elapsed]; !counted && !has && s.Elapsed > 0 {
		values[diagnosis.Elapsed] = s.Elapsed.Seconds()
	}
	s.Values = values
	c := &s.Conditions
	for _, share := range []*float64{&c.Others, &c.Steal, &c.Pressure, &c.RunQueue, &s.Ops} {
		if math.IsNaN(*share) || math.IsInf(*share, 0) {
			*share = -1
		}
	}
	s.Ops = max(s.Ops, 0)
	return s
}

// Noise is the ratio-1 below which a difference of the arms is not told from
// the machine's noise: Floor was measured with ten pairs, and what remains of
// noise in n falls with the root of n.
func (t *Trial) Noise() float64 { return t.noise(t.Pairs) }

const floorPairs = 10

func (t *Trial) noise(pairs int) float64 {
	return t.Floor * math.Sqrt(floorPairs/max(float64(pairs), floorPairs))
}

// firstPrimary is what decides when nobody said.
func (t *Trial) firstPrimary() diagnosis.Metric {
	for _, m := range []diagnosis.Metric{diagnosis.CPUPerOp, diagnosis.Elapsed} {
		if t.measured(m) {
			return m
		}
	}
	all := t.allMetrics()
	if len(all) == 0 {
		return diagnosis.CPUPerOp
	}
	return all[0]
}

// measured says that both arms had a value of the metric, in dropped rounds too,
// and from runs of the same kind: a program that is counted is another one.
func (t *Trial) measured(m diagnosis.Metric) bool {
	var seen sightings
	for _, r := range t.Rounds {
		if _, ok := r.Values[m]; ok {
			seen.add(r)
		}
	}
	return seen.both()
}

// sightings are where a metric was measured: timed or counted, in A or in B.
type sightings [2][2]bool

func (s *sightings) add(r Round) { s[index(r.Count)][index(r.Arm == "B")] = true }

func (s *sightings) both() bool { return s[0][0] && s[0][1] || s[1][0] && s[1][1] }

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// allMetrics are those that both arms measured, in the table's order.
func (t *Trial) allMetrics() []diagnosis.Metric {
	seen := map[diagnosis.Metric]*sightings{}
	for _, r := range t.Rounds {
		for m := range r.Values {
			if seen[m] == nil {
				seen[m] = new(sightings)
			}
			seen[m].add(r)
		}
	}
	maps.DeleteFunc(seen, func(_ diagnosis.Metric, s *sightings) bool { return !s.both() })
	return slices.SortedFunc(maps.Keys(seen), compareMetrics)
}

func (t *Trial) measuredList() string {
	var names []string
	for _, m := range t.allMetrics() {
		names = append(names, string(m))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
