// Package scrape asks processes that serve net/http/pprof for their profiles, again and
// again, and writes them to a store.
//
// It hides that a heap, mutex or block profile counts since its process started: what it
// writes is the difference between two scrapes. Each target has a goroutine and a
// deadline of its own, so that a slow one delays no other. It follows no redirect and
// reads a bounded number of bytes.
package scrape

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
)

// Defaults of a [Target]: the CPU profile covers a sixth of the time.
const (
	DefaultInterval = time.Minute
	DefaultCPU      = 10 * time.Second
	DefaultTimeout  = 10 * time.Second
)

// mostBytes bounds an answer as it comes; profiles.Default bounds it unpacked.
const mostBytes = 16 << 20

// A Target is a process to scrape.
type Target struct {
	Source store.Source
	URL    string // of the index, like http://10.0.0.7:6060/debug/pprof
	// Interval is from one scrape to the next, CPU the length of the CPU profile in it,
	// whole seconds, and Timeout how long an answer may take beyond that; 0 is the default.
	Interval, CPU, Timeout time.Duration
	// Profiles are those to ask for, of process_cpu, memory, mutex, block and
	// goroutines; none is all.
	Profiles []string
	// Bearer, or else User and Password, authenticate where they are not empty.
	Bearer, User, Password string
	TLS                    *tls.Config
	// Pause, where it is set, is called before each scrape: when it is true, that one is left
	// out, and what it would have counted is in the next.
	Pause func() bool
}

// A Status is how the last scrape of a target went.
type Status struct {
	Source store.Source
	URL    string
	At     time.Time // when it ended; zero before the first
	Err    error     // nil when all went well
}

// A Scraper scrapes targets.
type Scraper struct {
	writer store.Writer
	memory *memory.Pool

	mu      sync.Mutex
	targets []*target
	ctx     context.Context // of Run; nil before it
	running sync.WaitGroup
}

// New returns a scraper of targets, which [Scraper.Run] starts. What they answer is on the memory
// of a pool, which may be nil.
func New(w store.Writer, targets []Target, from *memory.Pool) *Scraper {
	s := &Scraper{writer: w, memory: from}
	s.Update(targets)
	return s
}

// Run scrapes until the context ends. The targets begin at different times, so that the
// load of many is even.
func (s *Scraper) Run(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	for i := range s.targets {
		s.start(i)
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock() // an Update that saw the context before it ended has started what it starts
	defer s.mu.Unlock()
	s.running.Wait()
}

// Update replaces the targets. One that stays, by its source and URL, keeps what it
// counted, and asks with what is new of it from its next round on.
func (s *Scraper) Update(targets []Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := map[string]*target{}
	for _, t := range s.targets {
		before[t.key] = t
	}
	var added []int
	s.targets = nil
	seen := map[string]bool{}
	for _, t := range targets {
		key := fmt.Sprintf("%q %q %q", t.Source, t.URL, t.Profiles)
		if seen[key] {
			continue // the same twice would count twice
		}
		seen[key] = true
		old := before[key]
		if old == nil {
			old = newTarget(t, key)
			added = append(added, len(s.targets))
		} else {
			old.mu.Lock()
			old.next = &t
			old.mu.Unlock()
			delete(before, key)
		}
		s.targets = append(s.targets, old)
	}
	for _, gone := range before {
		if gone.stop != nil {
			gone.stop()
		}
	}
	if s.ctx != nil && s.ctx.Err() == nil {
		for _, i := range added {
			s.start(i)
		}
	}
}

// start starts a target. The caller holds mu.
func (s *Scraper) start(i int) {
	t := s.targets[i]
	offset := t.Interval * time.Duration(i) / time.Duration(len(s.targets))
	var ctx context.Context
	ctx, t.stop = context.WithCancel(s.ctx)
	s.running.Go(func() { t.run(ctx, s.writer, s.memory, offset) })
}

// Status returns how each target is, in the order in which they were given.
func (s *Scraper) Status() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Status, len(s.targets))
	for i, t := range s.targets {
		t.mu.Lock()
		all[i] = t.status
		t.mu.Unlock()
	}
	return all
}

// A kind is a profile to ask for.
type kind struct {
	name, path string
	cumulative []string // the sample types that count since the process started
}

// kinds has memory first: whether its values fell is the best sign of a restart, since
// every process allocates. The profile heap has all that allocs has.
var kinds = []kind{
	{"memory", "heap", []string{"alloc_objects", "alloc_space"}},
	{"mutex", "mutex", []string{"contentions", "delay"}},
	{"block", "block", []string{"contentions", "delay"}},
	{"goroutines", "goroutine", nil},
}

// counts reports whether a sample type is cumulative.
func (k kind) counts(sampleType string) bool { return slices.Contains(k.cumulative, sampleType) }

func (k kind) key(sampleType string) string { return k.name + "/" + sampleType }

type target struct {
	Target // run's only, when that has begun
	client *http.Client
	last   time.Time // of the baseline; zero before there is one
	base   baseline

	key  string // the same for the same target
	stop func() // nil before it runs

	mu     sync.Mutex
	status Status
	next   *Target // what Update made of it, until run takes it
}

func newTarget(t Target, key string) *target {
	n := &target{base: baseline{}, key: key, status: Status{Source: t.Source, URL: t.URL}}
	n.set(t)
	return n
}

// set makes a target ask as it says.
func (t *target) set(as Target) {
	as.Interval = cmp.Or(as.Interval, DefaultInterval)
	as.CPU = cmp.Or(as.CPU, DefaultCPU)
	as.Timeout = cmp.Or(as.Timeout, DefaultTimeout)
	if t.client == nil || t.TLS != as.TLS {
		if t.client != nil {
			t.client.CloseIdleConnections()
		}
		t.client = &http.Client{
			Transport:     &http.Transport{TLSClientConfig: as.TLS, MaxIdleConnsPerHost: 1},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	t.Target = as
}

// adopt takes what an Update made of a target.
func (t *target) adopt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next != nil {
		t.set(*t.next)
		t.next = nil
	}
}

func (t *target) run(ctx context.Context, w store.Writer, from *memory.Pool, offset time.Duration) {
	defer func() { t.client.CloseIdleConnections() }()
	for next := time.After(offset); ; {
		select {
		case <-ctx.Done():
			return
		case <-next:
		}
		t.adopt()
		next = time.After(t.Interval)
		if t.Pause != nil && t.Pause() {
			continue
		}
		err := errors.Join(within(ctx, from, func(ctx context.Context) error { return t.counts(ctx, w) }),
			within(ctx, from, func(ctx context.Context) error { return t.cpu(ctx, w) }))
		if ctx.Err() != nil {
			return
		}
		t.mu.Lock()
		t.status.At, t.status.Err = time.Now(), err
		t.mu.Unlock()
	}
}

// within does work on a grant of its own.
func within(ctx context.Context, from *memory.Pool, work func(context.Context) error) error {
	granted, err := from.Take(ctx, 0)
	if err != nil {
		return err
	}
	defer granted.Release()
	return work(memory.With(ctx, granted))
}

func (t *target) wants(name string) bool {
	return len(t.Profiles) == 0 || slices.Contains(t.Profiles, name)
}

// cpu writes a CPU profile, as a batch of its own because its span is shorter.
func (t *target) cpu(ctx context.Context, w store.Writer) error {
	if !t.wants("process_cpu") {
		return nil
	}
	from := time.Now()
	p, err := t.fetch(ctx, fmt.Sprintf("profile?seconds=%d", max(1, int(t.CPU.Seconds()))), t.CPU)
	if err != nil {
		return err
	}
	b := t.batch(from, time.Now())
	if p.Duration > 0 {
		b.Until = b.From.Add(p.Duration)
	}
	b.add("process_cpu", p, p.Samples)
	return b.write(ctx, w)
}

// counts writes the other profiles. The baseline moves only when the store has what is
// before it: what it refuses is in the next difference.
func (t *target) counts(ctx context.Context, w store.Writer) error {
	now := time.Now()
	b := t.batch(cmp.Or(t.last, now), now)
	next := maps.Clone(t.base)
	var failed error
	for _, k := range kinds {
		if !t.wants(k.name) {
			continue
		}
		p, err := t.fetch(ctx, k.path, 0)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		b.add(k.name, p, next.differences(k, p))
	}
	if len(b.Profiles) > 0 {
		if err := b.write(ctx, w); err != nil {
			return errors.Join(failed, err)
		}
	}
	t.base, t.last = next, now
	return failed
}

// fetch asks for a profile, which takes a time beyond the timeout.
func (t *target) fetch(ctx context.Context, path string, takes time.Duration) (*profiles.Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, takes+t.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(t.URL, "/")+"/"+path, nil)
	if err != nil {
		return nil, fmt.Errorf("scrape %q: %w", path, err)
	}
	if t.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+t.Bearer)
	} else if t.User != "" {
		r.SetBasicAuth(t.User, t.Password)
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("scrape %q: %w", path, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("scrape %q: the target answers with status %d", path, answer.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(memory.Reader(ctx, answer.Body, 2), mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("scrape %q: %w", path, err)
	}
	if len(data) > mostBytes {
		return nil, fmt.Errorf("scrape %q: the answer has more than %d bytes", path, mostBytes)
	}
	if err := memory.More(ctx, int64(profiles.UnpackedSize(data, profiles.Default.Bytes))); err != nil {
		return nil, fmt.Errorf("scrape %q: %w", path, err)
	}
	p, err := profiles.DecodeWithin(data, profiles.Limits{}, func(cost int64) error { return memory.More(ctx, cost) })
	if err != nil {
		return nil, fmt.Errorf("scrape %q: %w", path, err)
	}
	return p, nil
}

type batch struct{ store.Batch }

// batch has an ID that no other has: nothing is scraped twice.
func (t *target) batch(from, until time.Time) *batch {
	b := &batch{store.Batch{Source: t.Source, From: from, Until: until, Stacks: map[store.StackID][]*store.Frame{}}}
	rand.Read(b.ID[:])
	return b
}

// add takes the samples of a profile, by the index of their type.
func (b *batch) add(name string, p *profiles.Profile, samples [][]store.Sample) {
	for i, t := range p.Types {
		if len(samples[i]) == 0 {
			continue
		}
		parts := []string{name, t.Name, t.Unit, p.Period.Name, p.Period.Unit}
		b.Profiles = append(b.Profiles, store.Profile{Type: store.Type(strings.Join(parts, ":")), Samples: samples[i]})
		for _, s := range samples[i] {
			if frames, ok := p.Stacks[s.Stack]; ok {
				b.Stacks[s.Stack] = frames
			}
		}
	}
}

func (b *batch) write(ctx context.Context, w store.Writer) error {
	if err := w.Write(ctx, &b.Batch); err != nil {
		return fmt.Errorf("write a scrape of %q: %w", b.Source.Service, err)
	}
	return nil
}
