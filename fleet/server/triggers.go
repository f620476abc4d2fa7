package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
)

// triggers looks for what is to be recorded at once.
type triggers struct {
	plan   *sampling.Plan
	reader store.Reader
	log    *slog.Logger
	now    func() time.Time
	// seen is when a change for the worse was known first.
	seen map[sampling.Subject]time.Time
}

const (
	// lookEvery is how often triggers are looked for, and lookShare the share of the time
	// that this may take.
	lookEvery = time.Minute
	lookShare = 0.05
	// lookBack is what versions are compared over, and newSince how far back a finding is
	// looked for that is new.
	lookBack, newSince = 3 * time.Hour, time.Hour
)

// watch looks for triggers until the context ends.
func (t *triggers) watch(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		for _, tenant := range t.plan.Tenants() {
			if err := t.look(ctx, tenant); err != nil && ctx.Err() == nil {
				t.log.Warn("what to record at once is not known", "tenant", tenant, "err", err)
			}
		}
		pause := max(lookEvery, time.Duration(float64(time.Since(began))/lookShare))
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// look looks for the triggers of a tenant: what opened lately, and what got worse; and for whose
// heap grows.
func (t *triggers) look(ctx context.Context, tenant string) error {
	now := t.now()
	list, err := findings.Of(ctx, t.reader, store.Selection{Tenant: tenant, From: now.Add(-newSince), Until: now})
	if err != nil {
		return err
	}
	var all []sampling.Trigger
	var growing []sampling.Subject
	for _, f := range list.Findings {
		of := sampling.Subject{Tenant: tenant, Service: f.Service, Version: f.Versions[len(f.Versions)-1]}
		if f.Open && findings.OfHeap(f.Rule) {
			growing = append(growing, of)
		}
		// It is shown since the second span that has it; what the first span has may be old.
		if f.Open && !f.Earlier && len(f.Trend) > 1 {
			why := "new finding: " + f.Rule
			if f.Function != "" {
				why += " in " + f.Function
			}
			all = append(all, sampling.Trigger{Subject: of, Why: short(why), Since: f.Trend[1].At, Seen: f.Trend[1].At})
		}
	}
	changes, err := versions.Changes(ctx, t.reader, store.Selection{Tenant: tenant, From: now.Add(-lookBack), Until: now})
	if err != nil {
		return err
	}
	for i := range changes {
		if c := &changes[i]; c.Worse() {
			of := sampling.Subject{Tenant: tenant, Service: c.Service, Version: c.Head}
			all = append(all, sampling.Trigger{Subject: of, Why: short("worse since " + c.Head), Since: c.Since, Seen: t.first(of, now)})
		}
	}
	t.plan.Trigger(tenant, all)
	t.plan.Growing(tenant, growing)
	return nil
}

// first returns when a change for the worse was known first. After a restart that is anew,
// and a recording that was made for it counts.
func (t *triggers) first(of sampling.Subject, now time.Time) time.Time {
	if _, known := t.seen[of]; !known {
		for k, at := range t.seen { // what is longer ago is no change of that time any more
			if now.Sub(at) > 2*lookBack {
				delete(t.seen, k)
			}
		}
		t.seen[of] = now
	}
	return t.seen[of]
}

// short returns a reason that fits into what is known of a recording.
func short(why string) string {
	const most = 200
	if r := []rune(why); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return why
}
