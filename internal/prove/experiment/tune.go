package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Counted is what a knob is a number of.
type Counted string

// What knobs count, as far as the search does more for it: throughput over a
// number of things that run at once follows a law, and a number of workers has
// formulas in the literature.
const (
	Workers    Counted = "workers"    // goroutines that do tasks
	Concurrent Counted = "concurrent" // other things that run at once: Ps, connections
)

// A Knob is something that a search turns. Of two values that do as well the
// smaller is the better one: fewer workers, less memory.
type Knob struct {
	Name string `json:"name"`
	// Low and High bound its values; Values, when not empty, are the only ones.
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
	Values  []float64 `json:"values,omitempty"`
	Integer bool      `json:"integer,omitempty"`
	Bytes   bool      `json:"bytes,omitempty"` // the values are sizes
	// Start is what it has until it was searched.
	Start  float64 `json:"start"`
	Counts Counted `json:"counts,omitempty"`
}

// A Setting is a value of each knob.
type Setting map[string]float64

// Words write the values of some knobs.
func (s Setting) Words(knobs []string, number func(float64) string) string {
	var parts []string
	for _, k := range knobs {
		parts = append(parts, k+"="+number(s[k]))
	}
	return strings.Join(parts, " ")
}

// A Goal is a metric to make least or greatest.
type Goal struct {
	Metric diagnosis.Metric `json:"metric"`
	Max    bool             `json:"max,omitempty"`
}

func (g Goal) String() string {
	if g.Max {
		return "max(" + string(g.Metric) + ")"
	}
	return "min(" + string(g.Metric) + ")"
}

// A Keep is a limit that a setting must hold to be recommended.
type Keep struct {
	Metric diagnosis.Metric `json:"metric"`
	Limit  float64          `json:"limit"`
	AtMost bool             `json:"at_most"` // else at least
}

func (k Keep) holds(v float64) bool {
	if k.AtMost {
		return v <= k.Limit
	}
	return v >= k.Limit
}

// A Search is what Tune is to do.
type Search struct {
	Knobs []Knob
	Goal  Goal
	Keep  []Keep
	// At returns the function that runs the program with a setting.
	At func(Setting) Runner
	// Record runs the program with a setting and its execution trace, for the
	// formulas of knobs that count workers; nil when that cannot be done, for
	// the reason in NoRecord.
	Record   func(context.Context, Setting) (*model.Model, error)
	NoRecord string
	// Repeats is the least number of interleaved runs of a point; 0 means 3.
	Repeats int
	// Busy is which runs are not counted; the zero Gate means DefaultGate.
	Busy Gate
	Seed uint64
}

// A Tuned is what came of a search. It is saved as JSON.
type Tuned struct {
	Schema int    `json:"schema"`
	Goal   Goal   `json:"goal"`
	Keep   []Keep `json:"keep,omitempty"`
	// Command is what was tuned, with its placeholders, Load and Ready what ran
	// beside it and what was waited for: whoever ran the search fills them in.
	Command []string `json:"command,omitempty"`
	Load    string   `json:"load,omitempty"`
	Ready   string   `json:"ready,omitempty"`
	// Curves are by knob, in the order of the search.
	Curves []Curve `json:"curves"`
	// Start is what the knobs had at first, Chosen what is recommended; a knob
	// with no setting that holds the limits stays as it was.
	Start  Setting `json:"start"`
	Chosen Setting `json:"chosen"`
	// Together is the check of several knobs at once against the start; nil for
	// one knob, or when nothing is to be changed.
	Together *Trial `json:"together,omitempty"`
	// Runs is how many runs were counted, Dropped how many were not because the
	// machine was busy.
	Runs     int           `json:"runs"`
	Dropped  int           `json:"dropped"`
	Seed     uint64        `json:"seed"`
	Took     time.Duration `json:"took_ns"`
	Warnings []string      `json:"warnings,omitempty"`
}

// TunedKind is how a Tuned's JSON begins, and TunedSchema its version.
const (
	TunedKind   = "gowhy tune"
	TunedSchema = 1
)

// Encode writes the search's result as JSON, with a first field that says what
// it is.
func (t *Tuned) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Kind string `json:"kind"`
		*Tuned
	}{TunedKind, t})
}

// An Interval is an estimate with its 95% interval. An end may be infinite,
// which is null in JSON.
type Interval struct{ Value, Low, High float64 }

type intervalJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// MarshalJSON writes infinite ends as null.
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal(intervalJSON{statistics.Finite(i.Value), statistics.Finite(i.Low), statistics.Finite(i.High)})
}

// UnmarshalJSON reads null as an infinite end.
func (i *Interval) UnmarshalJSON(b []byte) error {
	var j intervalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*i = Interval{orElse(j.Value, math.Inf(1)), orElse(j.Low, math.Inf(-1)), orElse(j.High, math.Inf(1))}
	return nil
}

// A MissingMetricError says that no run measured what the goal or a limit is about.
type MissingMetricError struct {
	Metric   diagnosis.Metric
	Measured []diagnosis.Metric // in order
}

func (e *MissingMetricError) Error() string {
	names := make([]string, len(e.Measured))
	for i, m := range e.Measured {
		names[i] = string(m)
	}
	return fmt.Sprintf("%s is not measured by these runs; measured: %s", e.Metric, strings.Join(names, ", "))
}

// Tune searches the smallest setting that is as good as the best.
//
// Of each knob, the others being held, a geometric grid over its range is run
// in rounds, each of which visits every point once in a new random order, so
// that a drift of the machine meets all alike. Then it looks closer: by golden
// section around the best point, and by halves, on the log scale, below the
// smallest one that does as well. Points on which the choice hangs are run
// again, up to four times as often. See [Curve] for the choice itself.
//
// With several knobs they are searched one at a time, each with those before
// it as chosen, and in the end the whole choice is verified against the start.
//
// progress is called before every run; of is an estimate. When ctx is cancelled, the result
// has what there is and the error is the context's.
func Tune(ctx context.Context, s Search, progress func(done, of int, what string)) (*Tuned, error) {
	f, err := newFinder(s, progress)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	err = f.all(ctx)
	f.out.Took = time.Since(begin)
	return f.out, err
}

// maxTuned bounds a saved search, in bytes; one of a thousand runs
// is some 500 kB.
const maxTuned = 64 << 20

// DecodeTuned reads what Encode wrote and computes everything anew from the
// runs: what a file says of itself proves nothing.
func DecodeTuned(r io.Reader) (*Tuned, error) {
	var t Tuned
	if err := json.NewDecoder(io.LimitReader(r, maxTuned)).Decode(&t); err != nil {
		return nil, err
	}
	if t.Schema != TunedSchema {
		return nil, fmt.Errorf("it has version %d, and only version %d is known", t.Schema, TunedSchema)
	}
	if t.Start == nil || t.Chosen == nil {
		return nil, errors.New("it has no settings")
	}
	for i := range t.Curves {
		c := &t.Curves[i]
		if len(c.Points) > maxSavedPoints {
			return nil, fmt.Errorf("a curve of it has %d points", len(c.Points))
		}
		slices.SortFunc(c.Points, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) })
		c.finish(t.Keep, t.Seed)
		c.USL, c.NoUSL = nil, ""
		c.fitUSL(t.Seed)
	}
	if t.Together != nil {
		t.Together.Judge()
	}
	return &t, nil
}

// maxSavedPoints is more than any search makes: its lists have at most
// maxPoints, and its grids are refined a few times.
const maxSavedPoints = 2 * maxPoints
