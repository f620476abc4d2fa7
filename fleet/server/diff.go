package server

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
)

// sides returns the two selections of a question: the head is as in any other question, the
// base differs in its version, or in its time.
func sides(q url.Values, s store.Selection, now func(url.Values) (store.Selection, error)) (base, head store.Selection, err error) {
	base, head = s, s
	if q.Get("service") == "" {
		return base, head, errors.New("service: of which?")
	}
	if q.Has("base_from") || q.Has("base_until") {
		times, err := now(url.Values{"from": {q.Get("base_from")}, "until": {q.Get("base_until")}})
		if err != nil {
			return base, head, errors.Join(errors.New("base"), err)
		}
		base.From, base.Until = times.From, times.Until
	}
	if q.Has("base_version") {
		base.Version = q.Get("base_version")
	}
	if base.Version == head.Version && base.From.Equal(head.From) && base.Until.Equal(head.Until) {
		return base, head, errors.New("both sides are the same: give base_version, or base_from and base_until")
	}
	return base, head, nil
}

// diff compares two sides.
func diff(ctx context.Context, r store.Reader, base, head store.Selection) (api.Diff, error) {
	all, err := versions.Compare(ctx, r, base, head)
	if err != nil {
		return api.Diff{}, err
	}
	a := api.Diff{Changes: []api.Change{}, New: []api.Cause{}, Gone: []api.Cause{}}
	for i := range all {
		c := changeOf(&all[i])
		if all[i].Worse() || all[i].Better() {
			d, err := versions.FunctionsBetween(ctx, r, base, head, &all[i], named)
			if err != nil {
				return api.Diff{}, err
			}
			explain(&c, d)
		}
		a.Changes = append(a.Changes, c)
		a.Missing = all[i].Missing
	}
	was, err := findings.Of(ctx, r, base)
	if err != nil {
		return api.Diff{}, err
	}
	is, err := findings.Of(ctx, r, head)
	if err != nil {
		return api.Diff{}, err
	}
	a.New, a.Gone = without(is, was), without(was, is)
	if slices.ContainsFunc(a.Changes, func(c api.Change) bool { return c.Verdict == api.Worse }) {
		a.NoCause = causeless(is, a.New)
	}
	return a, nil
}

// without returns the causes of one side that the other has not.
func without(a, b *findings.List) []api.Cause {
	has := map[api.Cause]bool{}
	for _, f := range b.Findings {
		has[api.Cause{Rule: f.Rule, Function: f.Function}] = true
	}
	causes := []api.Cause{}
	for _, f := range a.Findings {
		if !has[api.Cause{Rule: f.Rule, Function: f.Function}] {
			causes = append(causes, api.Cause{Rule: f.Rule, Title: f.Title, Function: f.Function})
		}
	}
	return causes
}
