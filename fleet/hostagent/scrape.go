package hostagent

import (
	"context"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/stacks"
)

// probeAgain is after how long it is looked again whether a program without an endpoint
// listens elsewhere: it may open one later. The agent asks each of its ports once. The last
// goes on.
var probeAgain = []time.Duration{scanEvery, time.Minute, 5 * time.Minute, 10 * time.Minute}

// phases spreads the scrapes of many programs over the window.
const phases = 17

// scrape looks for the endpoints of programs, and has those scraped that have one. Where
// the kernel refuses a program's CPU time, that is fetched too.
func (a *Agent) scrape(ctx context.Context, now time.Time) {
	var due []*program
	for _, p := range a.programs.all() {
		s := &p.scraping
		s.mu.Lock()
		switch {
		case s.ended || s.probing:
		case s.url != "" && !s.cpu && !p.agent && a.plan.refused(p):
			s.cancel()
			a.startScrape(ctx, p, true)
		case s.url == "" && !now.Before(s.next):
			s.probing = true
			s.next = now.Add(probeAgain[min(s.probes, len(probeAgain)-1)])
			s.probes++
			due = append(due, p)
		}
		s.mu.Unlock()
	}
	if len(due) > 0 {
		a.work.Go(func() { a.probeAll(ctx, due) })
	}
}

// probeAll asks programs for their endpoints, one after the other: who listens where is
// read once for all of them.
func (a *Agent) probeAll(ctx context.Context, due []*program) {
	pids := make([]int, len(due))
	for i, p := range due {
		pids[i] = p.pid
	}
	at := a.listening(pids...)
	for _, p := range due {
		s := &p.scraping
		if s.asked == nil {
			s.asked = map[string]bool{} // only who probes has it
		}
		url := ""
		if addrs := at[p.pid]; len(addrs) > 0 && ctx.Err() == nil {
			url = a.probe(ctx, addrs, p.agent, s.asked)
		}
		s.mu.Lock()
		s.probing, s.url = false, url
		if url != "" && !s.ended && ctx.Err() == nil {
			a.startScrape(ctx, p, !p.agent && a.plan.refused(p))
		}
		s.mu.Unlock()
	}
}

// startScrape scrapes a program until that ends. The lock of its scraping is held.
func (a *Agent) startScrape(ctx context.Context, p *program, cpu bool) {
	s := &p.scraping
	ctx, s.cancel = context.WithCancel(ctx)
	s.cpu = cpu
	t := scrape.Target{URL: s.url, Interval: a.o.Window, CPU: a.o.Sample, Profiles: []string{"memory", "goroutines"}, Pause: a.pause}
	if !p.agent {
		t.Profiles = append(t.Profiles, "mutex", "block")
	}
	if cpu {
		t.Profiles = append(t.Profiles, cpuKind)
	}
	t.Source.Service = p.service
	scraper := scrape.New(&pusher{a, p}, []scrape.Target{t}, nil)
	a.count.scraped.Add(1)
	a.work.Go(func() {
		defer a.count.scraped.Add(-1)
		select {
		case <-time.After(a.o.Window / phases * time.Duration(p.pid%phases)):
			scraper.Run(ctx)
		case <-ctx.Done():
		}
	})
}

// pause leaves a scrape out while the agent is beyond its budget.
func (a *Agent) pause() bool {
	over := a.over.Load()
	if over {
		a.count.skippedFetch.Add(1)
	}
	return over
}

// A pusher sends what is scraped of a program.
type pusher struct {
	a *Agent
	p *program
}

// Write hands a batch on. What the spool has no room for it counts.
func (w *pusher) Write(_ context.Context, b *store.Batch) error {
	for kind, prof := range profilesOf(b) {
		w.a.count.scrapes.Add(1)
		w.a.push(w.p, kind, prof)
	}
	return nil
}

// profilesOf returns the profiles of a batch in the format of pprof, by the first part of
// their types.
func profilesOf(b *store.Batch) map[string]*profile.Profile {
	all := map[string]*writing{}
	for _, p := range b.Profiles {
		parts := strings.Split(string(p.Type), ":")
		w := all[parts[0]]
		if w == nil {
			p := &profile.Profile{TimeNanos: b.From.UnixNano(), DurationNanos: int64(b.Until.Sub(b.From)), PeriodType: &profile.ValueType{Type: parts[3], Unit: parts[4]}}
			w = &writing{p, stacks.NewWriter(p), map[store.StackID]*profile.Sample{}}
			all[parts[0]] = w
		}
		w.add(p, &profile.ValueType{Type: parts[1], Unit: parts[2]}, b.Stacks)
	}
	done := map[string]*profile.Profile{}
	for kind, w := range all {
		done[kind] = w.p
	}
	return done
}

// A writing is a profile that grows.
type writing struct {
	p       *profile.Profile
	places  *stacks.Writer
	samples map[store.StackID]*profile.Sample
}

// add adds the values of a type.
func (w *writing) add(from store.Profile, kind *profile.ValueType, known map[store.StackID][]*store.Frame) {
	at := len(w.p.SampleType)
	w.p.SampleType = append(w.p.SampleType, kind)
	for _, s := range w.p.Sample {
		s.Value = append(s.Value, 0)
	}
	for _, s := range from.Samples {
		to := w.samples[s.Stack]
		if to == nil {
			to = &profile.Sample{Value: make([]int64, at+1)}
			for _, f := range known[s.Stack] {
				to.Location = append(to.Location, w.places.Location(stacks.Frame{Func: f.Function, File: f.File, Line: int(f.Line)}))
			}
			w.samples[s.Stack] = to
			w.p.Sample = append(w.p.Sample, to)
		}
		to.Value[at] += s.Value
	}
}
