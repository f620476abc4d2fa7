package findings

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/vote"
)

const (
	// lookEvery is how often what takes hours is judged: four of them hardly differ from
	// those of five minutes before.
	lookEvery = 15 * time.Minute
	// lookedOver is the rule of the row that says that it was judged. The row of the five
	// minutes that end then has "". Rows are kept, so the word stays what it once was.
	lookedOver = "growth"
)

// OverHours tells whether a finding is judged over hours, and not by five minutes.
func OverHours(rule string) bool { return Grows(rule) || rule == CostStep }

// A claim is what may be said of a version over hours.
type claim interface {
	// chance is how likely the evidence is where nothing is to be said; NaN where too
	// little is known.
	chance() float64
	// stands tells whether it is said, by the chance corrected for all questions.
	stands(chance float64) bool
	// row is what is kept of it.
	row(ctx context.Context, j *Judge, chance float64) (store.Finding, error)
}

// hours judges the windows that ended last and were not judged yet: as many as make a
// finding, so that a server that begins need not wait for one more.
func (j *Judge) hours(ctx context.Context, tenant string, last time.Time, known []store.Finding) error {
	for ago := vote.Quorum - 1; ago >= 0; ago-- {
		until := last.Truncate(lookEvery).Add(-lookEvery * time.Duration(ago))
		if slices.ContainsFunc(known, func(f store.Finding) bool { return f.Rule == lookedOver && f.Until.Equal(until) }) {
			continue
		}
		if err := j.look(ctx, store.Selection{Tenant: tenant, From: until.Add(-window), Until: until}, known); err != nil {
			return err
		}
	}
	return nil
}

// look judges one window. All its questions are corrected for together.
func (j *Judge) look(ctx context.Context, s store.Selection, known []store.Finding) error {
	all, err := j.Keeper.Services(ctx, s)
	if err := lacks(all.Missing, err); err != nil {
		return err
	}
	var rows []store.Finding
	var claims []claim
	for i := range all.Services {
		v := &all.Services[i]
		if mixed(all.Services, i) {
			continue
		}
		s.Service, s.Version = v.Name, v.Version
		rows = append(rows, store.Finding{Tenant: s.Tenant, Service: v.Name, Version: v.Version, From: s.From, Until: s.Until, Rule: lookedOver})
		began := time.Now()
		err := j.within(ctx, func(ctx context.Context) error {
			growths, err := j.growths(ctx, s, v)
			if err != nil {
				return err
			}
			steps, still, err := j.steps(ctx, s, all.Services, v, known)
			rows, claims = append(rows, still...), append(append(claims, growths...), steps...)
			return err
		})
		if err != nil {
			return err
		}
		if err := j.rest(ctx, began); err != nil {
			return err
		}
	}
	chances := make([]float64, len(claims))
	for i, c := range claims {
		chances[i] = c.chance()
	}
	for i, corrected := range statistics.Holm(chances) {
		if c := claims[i]; c.stands(corrected) {
			err := j.within(ctx, func(ctx context.Context) error {
				row, err := c.row(ctx, j, corrected)
				rows = append(rows, row)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return j.Keeper.WriteFindings(ctx, rows)
}

// lacks makes an error of an answer that lacks a part.
func lacks(m store.Missing, err error) error {
	if err == nil && len(m) > 0 {
		err = fmt.Errorf("%q could not be asked", m)
	}
	return err
}

// sent tells whether a version sent a type.
func sent(v *store.Service, t store.Type) bool {
	return total(v.Totals, t) > 0
}

func total(totals []store.Total, t store.Type) int64 {
	if i := slices.IndexFunc(totals, func(x store.Total) bool { return x.Type == t }); i >= 0 {
		return totals[i].Value
	}
	return 0
}

// stacks returns those of a selection; of those that end in the runtime, that which called it.
func (j *Judge) stacks(ctx context.Context, s store.Selection) (store.Stacks, error) {
	a, err := j.Keeper.Stacks(ctx, s)
	for id, frames := range a.Frames {
		for len(frames) > 1 && strings.HasPrefix(frames[0].Function, "runtime.") {
			frames = frames[1:]
		}
		a.Frames[id] = frames
	}
	return a, lacks(a.Missing, err)
}

// grown returns the function that has most of the growth between two sums, with a line of it;
// each sum counts by a part.
func grown(was, is *store.Stacks, byWas, byIs float64) (at store.Frame, f *versions.Function) {
	f = versions.Grown(was, is, byWas, byIs)
	if f == nil {
		return at, nil
	}
	at = store.Frame{Function: f.Name, File: f.File}
	for _, sample := range is.Samples {
		if i := slices.IndexFunc(is.Frames[sample.Stack], func(frame *store.Frame) bool { return frame.Function == f.Name }); i >= 0 {
			return *is.Frames[sample.Stack][i], f
		}
	}
	return at, f
}
