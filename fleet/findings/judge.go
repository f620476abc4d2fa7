// Package findings has gowhy's rules look at what a fleet sends, again and again, and
// says what they found: which causes, of which service, since when, and what they cost
// all processes together.
//
// It hides when a span of time is judged, what of a diagnosis is kept, and how the rows of
// many spans become one finding with its course. What one span says may be an accident of
// it: a finding is shown when two have it, and it is gone when the last three have not,
// as in gowhy top.
//
// Memory in use and goroutines are levels, of which five minutes show nothing: caches fill,
// load comes and goes. So whether they grow is judged over four hours, each quarter of an
// hour, with processes as replicates; and with it whether a version costs more since a moment
// at which it was not deployed. It is the same job and makes rows of the same kind, so
// that one has a begin, a course and an end as any other finding; they have a mark of their
// own for when they were judged.
package findings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/aggregate"
	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/vote"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

const (
	// Span is what is judged at once. Of a process that is profiled for ten seconds of
	// each minute it has fifty seconds.
	Span = 5 * time.Minute
	// grace is how long after a span's end it is judged: clients send what they have
	// each 15 seconds, scrapes take up to a minute.
	grace = 75 * time.Second
	// behind is how far back a judge goes that begins, or that was slow.
	behind = 3 * time.Hour
	// share is how much of one CPU judging may take: the store shares the machine.
	share = 0.25
	// mostFindings of a version's span are kept.
	mostFindings = 10
)

// Failed is the verdict on a span that could not be judged.
const Failed = "failed"

// A Keeper has what is judged, and keeps what that says.
type Keeper interface {
	store.Reader
	store.FindingWriter
}

// A Judge judges all services of its tenants, span by span.
type Judge struct {
	Keeper Keeper
	Rules  []*diagnosis.Rule
	// Tenants are those that there are, as far as is known now.
	Tenants func() []string
	Log     *slog.Logger
	Memory  *memory.Pool // that it may use; nil is no bound

	now  func() time.Time                                 // a test's
	wait func(ctx context.Context, d time.Duration) error // a test's
}

// Run judges until the context ends.
func (j *Judge) Run(ctx context.Context) {
	for ctx.Err() == nil {
		for _, tenant := range j.Tenants() {
			if err := j.Catch(ctx, tenant); err != nil && ctx.Err() == nil {
				j.Log.Error("judging failed", "tenant", tenant, "err", err)
			}
		}
		if j.pause(ctx, time.Minute) != nil {
			return
		}
	}
}

func (j *Judge) pause(ctx context.Context, d time.Duration) error {
	if j.wait != nil {
		return j.wait(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Catch judges all that ended lately and was not judged yet: the newest first, for what is
// there now matters most.
func (j *Judge) Catch(ctx context.Context, tenant string) error {
	now := time.Now
	if j.now != nil {
		now = j.now
	}
	last := now().Add(-grace).Truncate(Span)
	first := last.Add(-behind)
	known, err := j.Keeper.Findings(ctx, store.Selection{Tenant: tenant, From: first, Until: last.Add(time.Millisecond)})
	if err != nil {
		return err
	}
	type done struct {
		until            int64
		service, version string
	}
	judged := map[done]bool{}
	for _, f := range known.Findings {
		if f.Rule != "" {
			continue
		}
		judged[done{f.Until.UnixMilli(), f.Service, f.Version}] = true
	}
	var overHours error
	for until := last; until.After(first); until = until.Add(-Span) {
		if until.Equal(last.Add(-vote.Quorum * Span)) { // what grows now matters more than what older spans have
			overHours = j.hours(ctx, tenant, last, known.Findings)
		}
		s := store.Selection{Tenant: tenant, From: until.Add(-Span), Until: until}
		services, err := j.Keeper.Services(ctx, s)
		if err != nil {
			return err
		}
		for i, v := range services.Services {
			if mixed(services.Services, i) || judged[done{until.UnixMilli(), v.Name, v.Version}] {
				continue
			}
			s.Service, s.Version = v.Name, v.Version
			began := time.Now()
			if err := j.judge(ctx, s); err != nil {
				return err
			}
			if err := j.rest(ctx, began); err != nil {
				return err
			}
		}
	}
	return overHours
}

// rest waits as long as the judge must after what began at a time.
func (j *Judge) rest(ctx context.Context, began time.Time) error {
	return j.pause(ctx, time.Duration(float64(time.Since(began))*(1/share-1)))
}

// mixed tells whether processes tell no version while others of their service do. They
// cannot be selected without the others, and are not judged.
func mixed(all []store.Service, i int) bool {
	return all[i].Version == "" && slices.ContainsFunc(all, func(s store.Service) bool { return s.Name == all[i].Name && s.Version != "" })
}

// judge judges a span of a version.
func (j *Judge) judge(ctx context.Context, s store.Selection) error {
	var d *diagnosis.Diagnosis
	var e *aggregate.Process
	err := j.within(ctx, func(ctx context.Context) (err error) {
		d, e, err = Diagnose(ctx, j.Keeper, s, j.Rules)
		return err
	})
	verdict := store.Finding{Tenant: s.Tenant, Service: s.Service, Version: s.Version, From: s.From, Until: s.Until, Title: Failed}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, memory.ErrBusy): // later
		return err
	case err != nil:
		j.Log.Warn("a span could not be judged", "service", s.Service, "version", s.Version, "until", s.Until, "err", err)
		return j.Keeper.WriteFindings(ctx, []store.Finding{verdict})
	case len(e.Missing) > 0: // half of the evidence: later, when all of it answers
		return fmt.Errorf("%q could not be asked", e.Missing)
	}
	verdict.Title, verdict.Instances = string(d.Verdict), int64(e.Seen)
	rows := []store.Finding{verdict}
	for _, f := range d.Findings {
		if f.Remark {
			continue
		}
		row, err := rowOf(&f, verdict, e.Alive)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(x store.Finding) bool { return x.Compare(&row) == 0 }) {
			rows = append(rows, row)
		}
	}
	return j.Keeper.WriteFindings(ctx, rows)
}

// within does work on a grant of its own.
func (j *Judge) within(ctx context.Context, work func(context.Context) error) error {
	granted, err := j.Memory.Ahead(ctx, leastMemory)
	if err != nil {
		return err
	}
	defer granted.Release()
	return work(memory.With(ctx, granted))
}

const (
	// leastMemory is what most spans take, and stackMemory what a stack
	// does that becomes a profile, its file and what the rules see, besides the store's.
	leastMemory = 8 << 20
	stackMemory = 1000
)

// Diagnose has the rules look at all processes of a version in a span as at one.
func Diagnose(ctx context.Context, r store.Reader, s store.Selection, rules []*diagnosis.Rule) (*diagnosis.Diagnosis, *aggregate.Process, error) {
	e, err := aggregate.Of(ctx, r, s)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range e.Parts {
		if err := memory.More(ctx, stackMemory*int64(len(p.Profile.Sample))); err != nil {
			return nil, nil, err
		}
	}
	if len(e.Parts) == 0 {
		return &diagnosis.Diagnosis{Verdict: diagnosis.TooThin}, e, nil
	}
	rec, err := e.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("write the merged profiles: %w", err)
	}
	m, err := evidence.Read(ctx, "the merged profiles", rec, evidence.Options{Workers: 1, Elsewhere: true})
	if err != nil {
		return nil, nil, fmt.Errorf("read the merged profiles: %w", err)
	}
	return diagnosis.Run(m, rules, diagnosis.Options{Max: mostFindings}), e, nil
}

// rowOf encodes what the rules found in a mean process, of those that were alive.
func rowOf(f *diagnosis.Finding, verdict store.Finding, alive float64) (store.Finding, error) {
	d := Detail{Finding: *f, Whole: isRate(f.Cost.Unit)}
	row, err := d.row(verdict)
	if !d.Whole {
		alive = 1
	}
	row.Cost, row.Bound = millionths(f.Cost.Value*alive), millionths(f.Bound.Value*alive)
	if f.Bound.Unit != f.Cost.Unit {
		row.Bound = 0 // it is in the words
	}
	return row, err
}

// isRate tells whether processes together have the sum of what each has.
func isRate(u fact.Unit) bool {
	return u == fact.Cores || u == fact.BytesPerSec || u == fact.PerSec
}

func millionths(x float64) int64 {
	if !(math.Abs(x) <= math.MaxInt64/2e6) { // too large, or no number
		return 0
	}
	return int64(math.Round(x * 1e6))
}
