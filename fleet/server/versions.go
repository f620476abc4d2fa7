package server

import (
	"context"
	"math"
	"time"

	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
)

// Versions is the answer of /api/v1/versions: what got worse first, by how much, then what
// got better, then the rest.
type Versions struct {
	Changes []Change `json:"changes"`
	Omitted int      `json:"omitted"`
	// Steps are what costs more from a moment on at which nothing was deployed, and still does.
	Steps []Finding `json:"steps,omitempty"`
}

// A Change is one version of a service beside the one before it.
type Change struct {
	Service string    `json:"service"`
	Base    string    `json:"base"`
	Head    string    `json:"head"`
	Since   time.Time `json:"since"` // the first batch of the head
	Verdict Outcome   `json:"verdict"`
	Why     string    `json:"why,omitempty"` // it is undecided
	Type    string    `json:"type"`
	Unit    string    `json:"unit"`          // cores, or CPU/operation in seconds; of other types as it says
	Was     *float64  `json:"was,omitempty"` // medians of the processes
	Is      *float64  `json:"is,omitempty"`
	Ratio   *float64  `json:"ratio,omitempty"`
	Low     *float64  `json:"low,omitempty"` // of its 95% interval
	High    *float64  `json:"high,omitempty"`
	P       *float64  `json:"p,omitempty"` // corrected for all comparisons together
	// Processes that were compared, host by host where paired.
	BaseProcesses int          `json:"base_processes"`
	HeadProcesses int          `json:"head_processes"`
	Paired        bool         `json:"paired"`
	Function      string       `json:"function,omitempty"` // that the change is in
	Functions     []Difference `json:"functions,omitempty"`
	// Also is what else changed with it, allocations and waits. Causes are what the rules
	// found in the head and not in the base; of a change for the worse with none of them
	// NoCause says so.
	Also    []Also        `json:"also,omitempty"`
	Causes  []Cause       `json:"causes,omitempty"`
	NoCause string        `json:"no_cause,omitempty"`
	Missing store.Missing `json:"missing,omitempty"`
}

// An Outcome is what is claimed of a change.
type Outcome string

// The outcomes.
const (
	Worse     Outcome = "worse"
	Better    Outcome = "better"
	Unchanged Outcome = "no change seen"
	Undecided Outcome = "undecided"
)

// Also is another cost that changed with a version.
type Also struct {
	Type  string  `json:"type"`
	Unit  string  `json:"unit"`
	Was   float64 `json:"was"`
	Is    float64 `json:"is"`
	Ratio float64 `json:"ratio"`
}

// What is said where no rule fits, and where none looked.
const (
	noCause   = "no rule found a cause that was not there before; a recording shows more"
	notJudged = "the rules have not looked at it yet"
)

// A Difference is what a function's own lines cost more, in the change's unit.
type Difference struct {
	Name  string  `json:"name"`
	Was   float64 `json:"was"`
	Is    float64 `json:"is"`
	Delta float64 `json:"delta"`
}

const (
	// explained is of how many changes the functions are asked for: each is a scan.
	explained = 20
	named     = 10
)

func changes(ctx context.Context, r store.Reader, s store.Selection, n int) (Versions, error) {
	all, err := versions.Changes(ctx, r, s)
	if err != nil {
		return Versions{}, err
	}
	shown := all[:min(n, len(all))]
	answer := Versions{Changes: []Change{}, Omitted: len(all) - len(shown)}
	for i := range shown {
		c := changeOf(&shown[i])
		if i < explained && (shown[i].Worse() || shown[i].Better()) {
			d, err := versions.Functions(ctx, r, s, &shown[i], named)
			if err != nil {
				return Versions{}, err
			}
			c.explain(d)
			if shown[i].Worse() {
				if err := c.reason(ctx, r, s); err != nil {
					return Versions{}, err
				}
			}
		}
		answer.Changes = append(answer.Changes, c)
	}
	answer.Steps, err = steps(ctx, r, s)
	return answer, err
}

func steps(ctx context.Context, r store.Reader, s store.Selection) (steps []Finding, err error) {
	list, err := findings.Of(ctx, r, s)
	if err != nil {
		return nil, err
	}
	for i := range list.Findings {
		if f := &list.Findings[i]; f.Rule == findings.CostStep && f.Open {
			steps = append(steps, findingOf(f, Prices{}))
		}
	}
	return steps, nil
}

// explain says where a change is.
func (c *Change) explain(d *versions.Difference) {
	if d.Narrow != nil {
		c.Function = d.Narrow.Name
	}
	for _, f := range d.Functions {
		c.Functions = append(c.Functions, Difference{f.Name, f.Was, f.Is, f.Delta()})
	}
}

// reason says what else changed with a change for the worse, and why as the rules see it.
func (c *Change) reason(ctx context.Context, r store.Reader, s store.Selection) error {
	base, head := s, s
	base.Service, base.Version = c.Service, c.Base
	head.Service, head.Version = c.Service, c.Head
	all, err := versions.Between(ctx, r, base, head)
	if err != nil {
		return err
	}
	for i := range all {
		if o := &all[i]; string(o.Type) != c.Type && (o.Worse() || o.Better()) {
			c.Also = append(c.Also, Also{string(o.Type), string(o.Unit), o.Was, o.Is, o.Ratio})
		}
	}
	was, err := findings.Of(ctx, r, base)
	if err != nil {
		return err
	}
	is, err := findings.Of(ctx, r, head)
	if err != nil {
		return err
	}
	c.Causes = without(is, was)
	c.NoCause = causeless(is, c.Causes)
	return nil
}

// causeless says that a side has no cause of its own, "" where it has one.
func causeless(of *findings.List, own []Cause) string {
	switch {
	case len(own) > 0:
		return ""
	case of.Judged.IsZero():
		return notJudged
	}
	return noCause
}

func changeOf(c *versions.Change) Change {
	verdict := Unchanged
	switch {
	case c.Why != "":
		verdict = Undecided
	case c.Worse():
		verdict = Worse
	case c.Better():
		verdict = Better
	}
	return Change{
		Service: c.Service, Base: c.Base, Head: c.Head, Since: c.Since.UTC(), Verdict: verdict, Why: c.Why, Type: string(c.Type), Unit: string(c.Unit),
		Was: number(c.Was), Is: number(c.Is), Ratio: number(c.Ratio), Low: number(c.Low), High: number(c.High), P: number(c.P),
		BaseProcesses: c.BaseN, HeadProcesses: c.HeadN, Paired: c.Paired, Missing: c.Missing,
	}
}

// number is nil for what is not known: JSON has no word for it.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
		return nil
	}
	return &x
}
