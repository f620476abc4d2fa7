package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// errNothing is of an export that would be empty: what is mistyped would be a file that
// looks well.
var errNothing = errors.New("nothing was sent by such processes in this time")

const (
	// longer is what to do about nothing of a service that there is.
	longer = "ask from now-24h, or for all versions, processes and labels"
	// mostName bounds the name that others are compared with, and mostNamed is of how many
	// recordings.
	mostName, mostNamed = 100, 1000
)

// A directory tells which services there are.
type directory struct {
	profiles store.Reader   // nil tells nothing
	kept     *runs.Store    // may be nil
	plan     *sampling.Plan // may be nil: what agents offer counts only for recordings
}

// check returns a [problem.Absence] where a tenant has no service of a selection's name; nil also where
// that is not known.
func (d *directory) check(ctx context.Context, s store.Selection) error {
	if s.Service == "" || d.profiles == nil {
		return nil
	}
	var names []string
	if d.plan != nil {
		names = d.plan.Services(s.Tenant)
	}
	if slices.Contains(names, s.Service) {
		return nil
	}
	if d.kept != nil {
		if list, _ := d.kept.List(runs.Filter{Tenant: s.Tenant, Service: s.Service}, 1); len(list) > 0 {
			return nil
		}
	}
	// That it sent something lately costs less to learn than all names there ever were.
	for _, of := range []store.Selection{
		{Tenant: s.Tenant, Service: s.Service, From: s.From, Until: s.Until},
		{Tenant: s.Tenant, From: time.UnixMilli(0)},
	} {
		v, err := d.profiles.Values(ctx, of, store.ByService)
		if err != nil || len(v.Missing) > 0 || slices.Contains(v.Values, s.Service) {
			return err
		}
		names = append(names, v.Values...)
	}
	if d.kept != nil {
		list, _ := d.kept.List(runs.Filter{Tenant: s.Tenant}, mostNamed)
		for i := range list {
			names = append(names, list[i].Service)
		}
	}
	hint := "gowhy fleet services --from now-24h"
	if near, ok := problem.Correction(s.Service[:min(mostName, len(s.Service))], names); ok {
		hint = fmt.Sprintf("did you mean %.*s?", mostName, near)
	}
	return problem.New(problem.Absence, hint, "there is no service %.*q", mostName, s.Service)
}

// isEmpty reports whether an answer says nothing, as one about a mistyped service does.
func isEmpty(answer any) bool {
	switch a := answer.(type) {
	case api.Top:
		return len(a.Functions) == 0 && len(a.Missing) == 0
	case api.Versions:
		return len(a.Changes) == 0
	case api.Findings:
		return len(a.Findings)+len(a.Verdicts)+len(a.Missing) == 0
	case api.Flame:
		return a.Head.Total == 0 && (a.Base == nil || a.Base.Total == 0) && len(a.Missing) == 0
	}
	return false
}
