package server

import (
	"context"
	"math"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
)

// What is said where no rule fits, and where none looked.
const (
	noCause   = "no rule found a cause that was not there before; a recording shows more"
	notJudged = "the rules have not looked at it yet"
)

const (
	// explained is of how many changes the functions are asked for: each is a scan.
	explained = 20
	named     = 10
)

func changes(ctx context.Context, r store.Reader, s store.Selection, n int) (api.Versions, error) {
	all, err := versions.Changes(ctx, r, s)
	if err != nil {
		return api.Versions{}, err
	}
	shown := all[:min(n, len(all))]
	answer := api.Versions{Changes: []api.Change{}, Omitted: len(all) - len(shown)}
	for i := range shown {
		c := changeOf(&shown[i])
		if i < explained && (shown[i].Worse() || shown[i].Better()) {
			d, err := versions.Functions(ctx, r, s, &shown[i], named)
			if err != nil {
				return api.Versions{}, err
			}
			explain(&c, d)
			if shown[i].Worse() {
				if err := reason(ctx, &c, r, s); err != nil {
					return api.Versions{}, err
				}
			}
		}
		answer.Changes = append(answer.Changes, c)
	}
	answer.Steps, err = steps(ctx, r, s)
	return answer, err
}

func steps(ctx context.Context, r store.Reader, s store.Selection) (steps []api.Finding, err error) {
	list, err := findings.Of(ctx, r, s)
	if err != nil {
		return nil, err
	}
	for i := range list.Findings {
		if f := &list.Findings[i]; f.Rule == findings.CostStep && f.Open {
			steps = append(steps, findingOf(f, api.Prices{}))
		}
	}
	return steps, nil
}

// explain says where a change is.
func explain(c *api.Change, d *versions.Difference) {
	if d.Narrow != nil {
		c.Function = d.Narrow.Name
	}
	for _, f := range d.Functions {
		c.Functions = append(c.Functions, api.Difference{Name: f.Name, Was: f.Was, Is: f.Is, Delta: f.Delta()})
	}
}

// reason says what else changed with a change for the worse, and why as the rules see it.
func reason(ctx context.Context, c *api.Change, r store.Reader, s store.Selection) error {
	base, head := s, s
	base.Service, base.Version = c.Service, c.Base
	head.Service, head.Version = c.Service, c.Head
	all, err := versions.Compare(ctx, r, base, head)
	if err != nil {
		return err
	}
	for i := range all {
		if o := &all[i]; string(o.Type) != c.Type && (o.Worse() || o.Better()) {
			c.Also = append(c.Also, api.Also{Type: string(o.Type), Unit: string(o.Unit), Was: o.Was, Is: o.Is, Ratio: o.Ratio})
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
func causeless(of *findings.List, own []api.Cause) string {
	switch {
	case len(own) > 0:
		return ""
	case of.Judged.IsZero():
		return notJudged
	}
	return noCause
}

func changeOf(c *versions.Change) api.Change {
	verdict := api.Unchanged
	switch {
	case c.Why != "":
		verdict = api.Undecided
	case c.Worse():
		verdict = api.Worse
	case c.Better():
		verdict = api.Better
	}
	return api.Change{
		Service: c.Service, Base: c.Base, Head: c.Head, Since: c.Since.UTC(), Verdict: verdict, Why: c.Why, Type: string(c.Type), Unit: string(c.Unit),
		Was: number(c.Was), Is: number(c.Is), Ratio: number(c.Ratio), Low: number(c.Low), High: number(c.High), P: number(c.P),
		BaseProcesses: c.BaseN, HeadProcesses: c.HeadN, Paired: c.Paired, Missing: c.Missing,
	}
}

// number returns nil for what is not known: JSON has no word for it.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
		return nil
	}
	return &x
}
