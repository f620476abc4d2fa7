// Package site is where load is offered when a capacity is searched: a server
// that runs, copies of one that are started, or programs that are fed lines.
//
// It hides when copies are started anew and when it is waited instead, how
// connections are spread over them, which program has no capacity to search, and
// what of a load tells how much was borne, and which settings a table has. A [Site]
// offers once for each step, a [Search] makes one for each setting.
package site

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/load"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A Site is what load is offered to. Give one protocol for each copy of the
// program, and subjects where they are to be started.
type Site struct {
	// Protocols are made anew for each offer: one keeps how its program ended.
	Protocols []func() (load.Protocol, error)
	Subjects  []*subject.Subject
	Feeds     bool // the programs are fed lines; else they are servers
	Restart   bool // for each offer, not only after one that was too much

	Timeout     time.Duration // of an operation
	Connections int           // open to servers at most; 0 is what the protocol's limits say
	Progress    func(p load.Progress, rate float64)

	servers    []*subject.Server
	offers     int
	overloaded bool // the last offer left work behind
}

// Stop stops what was started.
func (t *Site) Stop() {
	for _, v := range slices.Backward(t.servers) {
		v.Stop()
	}
	t.servers = nil
}

// start makes the site as it is when nothing was offered yet.
func (t *Site) start(ctx context.Context) error {
	if len(t.servers) > 0 && !t.Restart && !t.overloaded {
		return t.check()
	}
	if len(t.Subjects) == 0 {
		if t.overloaded && !t.Feeds {
			return rest(ctx) // it is not ours to start anew
		}
		return nil
	}
	t.Stop()
	for _, s := range t.Subjects {
		v, err := s.Start(ctx)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, v)
	}
	return nil
}

func (t *Site) check() error {
	for _, v := range t.servers {
		if err := v.Check(); err != nil {
			return err
		}
	}
	return nil
}

// restTime is how long a server that we did not start may take to do what was
// left over from a step that was too much.
const restTime = 2 * time.Second

func rest(ctx context.Context) error {
	timer := time.NewTimer(restTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Offer offers load once, at a rate.
func (t *Site) Offer(ctx context.Context, rate float64, d time.Duration) (experiment.Offered, error) {
	if err := t.start(ctx); err != nil {
		return experiment.Offered{}, err
	}
	p, err := spread(t.Protocols)
	if err != nil {
		return experiment.Offered{}, err
	}
	watch := subject.Begin(t.servers)
	r, err := load.Offer(ctx, load.Options{Protocol: p, Rate: rate, Duration: d, Warmup: d / 10, Timeout: t.Timeout,
		Connections: t.connections(p), Progress: func(p load.Progress) { t.Progress(p, rate) }})
	conditions := watch.End()
	if err != nil {
		return experiment.Offered{}, err
	}
	t.offers++
	if t.offers == 1 {
		if err := cmp.Or(r.Err(), t.ended(r, rate)); err != nil {
			return experiment.Offered{}, err
		}
	}
	o := offeredBy(r, d)
	o.Conditions = conditions
	t.overloaded = o.Failed > 0 || leftOver(r) > rate*leftTime.Seconds()
	return o, t.check()
}

// ended refuses a program that ends by itself: its rates would be how many
// lines it reads. One that ends only at a higher rate has that as its limit.
func (t *Site) ended(r *loadresult.Result, rate float64) error {
	if !t.Feeds || len(r.Errors) == 0 || !strings.HasPrefix(r.Errors[0].What, load.Ended) {
		return nil
	}
	return problem.New(problem.Failure, "it has to read lines until its standard input is closed   # or: --from 10", "at the lowest rate, %s/s, %s", figures.Number(rate), r.Errors[0].What)
}

// leftTime is how long a program would have to work off what is left of a step
// for it to be worth starting anew.
const leftTime = 50 * time.Millisecond

// leftOver returns the backlog at the end of a load.
func leftOver(r *loadresult.Result) float64 {
	if n := len(r.Backlog); n > 0 {
		return float64(r.Backlog[n-1].N)
	}
	return 0
}

func (t *Site) connections(p load.Protocol) int {
	if t.Feeds {
		return len(t.Protocols)
	}
	if t.Connections > 0 {
		return max(t.Connections, len(t.Protocols))
	}
	return p.Limits().Connections
}

// offeredBy returns what the search wants to know of a load.
func offeredBy(r *loadresult.Result, d time.Duration) experiment.Offered {
	o := experiment.Offered{Done: r.Rate, P50: r.Quantile(0.5), P99: r.Quantile(0.99), Generator: r.Generator}
	if s := r.Duration.Seconds(); s > 0 {
		o.Sent = float64(r.Sent) / s
	}
	if len(r.Errors) > 0 {
		o.Error = r.Errors[0].What
	}
	if r.Ops > 0 {
		o.Failed = float64(r.Failed) / float64(r.Ops)
		o.Done *= 1 - o.Failed
	}
	for _, l := range r.Backlog {
		if l.At > d {
			break // the load is over, and the rest is worked off
		}
		o.Backlog = append(o.Backlog, model.Point{At: l.At, Value: float64(l.N)})
	}
	return o
}
