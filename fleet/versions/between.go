package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Compare compares two selections of a service, versions or times, by each type that both
// sent: CPU first, then allocations and waits. Their probabilities are corrected for all of
// these together. Where one side ran for longer, what is about to be claimed must show in times of
// the same length too, as a deploy's must.
func Compare(ctx context.Context, r store.Reader, base, head store.Selection) ([]Change, error) {
	was, err := all(ctx, r, base)
	if err != nil {
		return nil, err
	}
	is, err := all(ctx, r, head)
	if err != nil {
		return nil, err
	}
	equalWas, equalIs, missing, err := alike(ctx, r, &was.version, &is.version, base, head)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, k := range kinds {
		if !was.sent(k.Type) || !is.sent(k.Type) {
			continue
		}
		c := compare(&was.version, &is.version, k, len(kinds))
		if c.Why == "" && c.P < alpha && (equalWas != &was.version || equalIs != &is.version) {
			c.hold(compare(equalWas, equalIs, k, len(kinds)))
		}
		c.Missing = slices.Compact(slices.Sorted(slices.Values(slices.Concat(was.missing, is.missing, missing))))
		changes = append(changes, c)
	}
	correct(changes, 0)
	return changes, nil
}

// A side is all processes of a selection.
type side struct {
	version
	missing store.Missing
}

// all returns the processes of a selection, under the name of the version that it selects.
func all(ctx context.Context, r store.Reader, s store.Selection) (*side, error) {
	a, err := r.Instances(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(a.Instances) == 0 && len(a.Missing) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNothing, describe(s))
	}
	v := &side{version{service: s.Service, name: s.Version, processes: a.Instances}, a.Missing}
	for i, p := range a.Instances {
		if i == 0 || p.First.Before(v.first) {
			v.first = p.First
		}
		if p.Last.After(v.last) {
			v.last = p.Last
		}
	}
	return v, nil
}

// ErrNothing is what an error is when a side of a comparison sent nothing.
var ErrNothing = errors.New("nothing was sent")

func describe(s store.Selection) string {
	name := s.Service
	if s.Version != "" {
		name += " " + s.Version
	}
	return fmt.Sprintf("%s between %s and %s", name, s.From.UTC().Format(time.RFC3339), s.Until.UTC().Format(time.RFC3339))
}

func (v *side) sent(t store.Type) bool {
	for _, p := range v.processes {
		if total(p.Totals, t) != 0 {
			return true
		}
	}
	return false
}
