package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// The form of saved trials.
const (
	TrialKind   = "gowhy trial"
	TrialSchema = 1
)

// A Conclusion is what a trial says about the prescription.
type Conclusion string

// The conclusions.
const (
	Confirmed Conclusion = "confirmed" // the primary metric improved and no guard is broken
	Rejected  Conclusion = "rejected"  // it is no gain beyond the margin, or a guard is broken
	Undecided Conclusion = "undecided"
	// NoDifference is that of arms which are the same, and in which none was seen.
	NoDifference Conclusion = "no difference"
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
	// Busy is set when enough rounds met a busy machine that all of them count.
	Busy   bool          `json:"busy,omitempty"`
	Took   time.Duration `json:"took_ns"`
	Seed   uint64        `json:"seed"`
	Rounds []Round       `json:"rounds"`
	// Identical says that both arms ran the same.
	Identical bool `json:"identical,omitempty"`
	// Predicted is what was expected before, nil when nothing was.
	Predicted *Prediction `json:"predicted,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
	// About says what was compared, for readers; no verdict rests on it.
	About About `json:"about,omitzero"`

	draws   int // of intervals, when tests want fewer
	nominal nominal
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
	// allows, by Method; Estimate is what a replay of the trace expects, by
	// Replay. 0 where there is none.
	Best     float64 `json:"best,omitempty"`
	Method   string  `json:"method,omitempty"`
	Estimate float64 `json:"estimate,omitempty"`
	Replay   string  `json:"replay,omitempty"`
}

// These bound what is read of saved documents: the largest trial there can be
// has four rounds of each pair and as many dropped ones. Metrics are a dozen,
// and three for each benchmark.
const (
	maxSaved   = 64 << 20
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
		q := *p
		q.Best, q.Estimate = finite(p.Best), finite(p.Estimate)
		out.Predicted = &q
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(&out)
}

// finite is 0 for what JSON has no number for.
func finite(v float64) float64 { return orElse(statistics.Finite(v), 0) }

func (t *Trial) fill() {
	t.Effects = append([]Effect{}, t.Effects...)
	t.Guards = append([]Guard{}, t.Guards...)
	t.Looks = append([]int{}, t.Looks...)
	t.Rounds = append([]Round{}, t.Rounds...)
}

// DecodeTrial reads what [Trial.Encode] wrote.
func DecodeTrial(r io.Reader) (*Trial, error) {
	t := new(Trial)
	if err := DecodeSaved(r, TrialKind, TrialSchema, t); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTrial, err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrTrial, err)
	}
	t.fill()
	return t, nil
}

// DecodeSaved reads a JSON document of up to 64 MiB into v if it is of the kind
// and the schema.
func DecodeSaved(r io.Reader, kind string, schema int, v any) error {
	b, err := io.ReadAll(io.LimitReader(r, maxSaved+1))
	if err != nil {
		return err
	}
	if len(b) > maxSaved {
		return fmt.Errorf("larger than %d MiB", maxSaved>>20)
	}
	// The schema first: another version's fields may not even have our types.
	var head struct {
		Kind   string `json:"kind"`
		Schema int    `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	if head.Kind != kind || head.Schema != schema {
		return fmt.Errorf("kind %q, schema %d; wanted %q, %d", head.Kind, head.Schema, kind, schema)
	}
	return json.Unmarshal(b, v)
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
		if g.Limit < 0 || g.Least < 0 {
			return fmt.Errorf("the guard %s has a negative limit", g.Metric)
		}
	}
	return nil
}

// clean leaves only values that can be compared: a ratio needs numbers that are
// finite and not negative. The duration of a run is a metric of its own, unless
// everything was counted, which takes time: of such runs no time is compared.
func (s Sample) clean(counted bool) Sample {
	values := map[diagnosis.Metric]float64{}
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
		*share = orElse(statistics.Finite(*share), -1)
	}
	s.Ops = max(s.Ops, 0)
	return s
}

// Has reports whether a round measured a metric.
func (t *Trial) Has(m diagnosis.Metric) bool {
	return slices.ContainsFunc(t.Rounds, func(r Round) bool { _, ok := r.Values[m]; return ok })
}

// SameWithin returns the ratio-1 within which times are called the same: the margin,
// or what will be left of the machine's noise when all pairs are run, if that is
// more. An early look may not call the same what a late one would tell apart.
func (t *Trial) SameWithin() float64 { return max(t.Margin, t.noise(t.planned())) }

// sameWithin returns that of any metric; counters and memory have no noise of the
// machine's.
func (t *Trial) sameWithin(m diagnosis.Metric) float64 {
	if !InfoOf(m).timed() {
		return t.Margin
	}
	return t.SameWithin()
}

const floorPairs = 10

// noise returns the ratio-1 below which a difference of the arms in n pairs is not told from the
// machine's noise: Floor was measured with ten, and what remains in n falls with the root of
// n.
func (t *Trial) noise(pairs int) float64 {
	return t.Floor * math.Sqrt(floorPairs/max(float64(pairs), floorPairs))
}
