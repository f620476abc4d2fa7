// Package runs keeps recordings whole, with what is known of each: of which service it
// is, when it was made, and what gowhy finds in it.
//
// It hides the directory. A recording is the file ID.gowhy, its ID the SHA-256 of its
// content, and ID.json beside it is what is known. Both are written under another name,
// synced and renamed, the recording last: a recording that has its name is whole and is
// kept, whatever happens to the process. What is in memory is read from these files when
// a store is opened; one whose ID.json is gone is described anew from itself. [Store] is
// its type. What is here of an upload that is not whole has a name of its own, and waits
// for the rest, over a restart too: it is a recording when all of it has the hash that its
// sender said. It also hides the diagnosis, one recording at a time, in the background.
//
// It never changes a recording and opens none that unpacks to more than it is.
package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/durable"
)

// Options are what a store keeps. The zero value is usable.
type Options struct {
	// Most bounds the bytes of one recording; 0 is 256 MiB.
	Most int64
	// Total bounds those of all: the oldest are dropped for a new one. 0 is 10 GiB.
	Total int64
	// Count bounds how many there are, for a server has in memory what each says of itself, up to
	// some kB: the oldest are dropped. 0 is 20,000.
	Count int
	// Parts bounds those of uploads that are not whole, besides: the oldest are dropped
	// that nobody sends. 0 is four times Most.
	Parts int64
	// Keep drops what has been here for longer; 0 keeps all.
	Keep time.Duration
	// Diagnose is [Diagnose] where it is nil: a server has it in a process of its own, for
	// a large trace takes gigabytes.
	Diagnose func(ctx context.Context, file string) (api.Diagnosis, error)
}

// Errors of a store.
var (
	ErrUnknown = errors.New("there is no such recording")
	ErrLong    = errors.New("the recording is too long")
	ErrFormat  = errors.New("it is not a recording of gowhy")
	ErrClosed  = errors.New("the store of recordings is closed")
)

// sweepEvery is how often what is too old is looked for.
const sweepEvery = time.Minute

// A Store keeps recordings. Any number of goroutines may use it.
type Store struct {
	dir      string
	options  Options
	now      func() time.Time
	diagnose func(ctx context.Context, file string) (api.Diagnosis, error)

	stop context.CancelFunc
	done sync.WaitGroup
	wake chan struct{}

	mu     sync.Mutex
	closed bool
	runs   map[key]*api.Recording
	of     map[Subject][]*api.Recording // the same, those that began last first
	total  int64
	parts  map[string]*part // by the base of their recording
	turn   int64            // how many diagnoses were begun
	turns  map[string]int64 // of tenants whose runs wait: as of their last one
}

// A Subject is a version of a tenant's service.
type Subject struct{ Tenant, Service, Version string }

func subjectOf(r *api.Recording) Subject { return Subject{r.Tenant, r.Service, r.Version} }

// A key is how a store finds a run: two tenants may have the same recording.
type key struct{ tenant, id string }

// Open opens the store in a directory, which is made when it is not there.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{dir: dir, options: o, now: time.Now, diagnose: o.Diagnose}
	if s.diagnose == nil {
		s.diagnose = Diagnose
	}
	return s, s.open()
}

func (s *Store) open() error {
	s.options.Most = cmp.Or(s.options.Most, 256<<20)
	s.options.Parts = max(cmp.Or(s.options.Parts, 4*s.options.Most), s.options.Most)
	s.options.Count = cmp.Or(s.options.Count, 20_000)
	s.options.Total = max(cmp.Or(s.options.Total, 10<<30), s.options.Most)
	s.runs, s.of, s.parts = map[key]*api.Recording{}, map[Subject][]*api.Recording{}, map[string]*part{}
	s.wake = make(chan struct{}, 1)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := s.read(); err != nil {
		return fmt.Errorf("recordings in %s: %w", s.dir, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() { s.judge(ctx) })
	s.done.Go(func() { s.sweepOften(ctx) })
	return nil
}

// Close ends the store, when the diagnosis that runs has noticed.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.done.Wait()
	return nil
}

// A Filter is which runs are meant: those that have all that is not empty.
type Filter struct {
	Tenant           string // always one; "" is one, too
	Service, Version string
	From, Until      time.Time // of Start; Until is no part of it
}

func (f Filter) has(r *api.Recording) bool {
	return f.Tenant == r.Tenant && (f.Service == "" || f.Service == r.Service) && (f.Version == "" || f.Version == r.Version) &&
		(f.From.IsZero() || !r.Start.Before(f.From)) && (f.Until.IsZero() || r.Start.Before(f.Until))
}

// List returns the runs of a filter, the latest first, n at most, and how many more there are.
func (s *Store) List(f Filter, n int) (list []api.Recording, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*api.Recording
	for _, r := range s.runs {
		if f.has(r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *api.Recording) int { return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.ID, b.ID)) })
	n = min(n, len(all))
	for _, r := range all[:n] {
		list = append(list, *r)
	}
	return list, len(all) - n
}

// Latest returns the runs of a version that began last, n at most, the latest first. When
// that was is what [api.Recording.Began] says.
func (s *Store) Latest(of Subject, n int) (list []api.Recording) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.of[of] {
		if len(list) == n {
			break
		}
		list = append(list, *r)
	}
	return list
}

// Showing returns the newest run of versions of a service in which a rule found a cause, and
// what it found; nil where there is none.
func (s *Store) Showing(tenant, service string, versions []string, rule string) (newest api.Recording, found *api.RecordingFinding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range versions {
		for _, r := range s.of[Subject{tenant, service, v}] {
			at := slices.IndexFunc(r.Diagnosis.Findings, func(f api.RecordingFinding) bool { return f.Rule == rule && !f.Remark })
			if at < 0 {
				continue
			}
			if found == nil || r.Began().After(newest.Began()) {
				f := r.Diagnosis.Findings[at]
				newest, found = *r, &f
			}
			break
		}
	}
	return newest, found
}

// Growing returns the newest run of versions of a service in which a holder of the heap grew, and
// the one that grew most; nil where there is none.
func (s *Store) Growing(tenant, service string, versions []string) (newest api.Recording, most *api.Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range versions {
		for _, r := range s.of[Subject{tenant, service, v}] {
			if most != nil && !r.Began().After(newest.Began()) {
				break
			}
			if h := grewMost(r.Diagnosis.Held); h != nil {
				newest, most = *r, h
				break
			}
		}
	}
	return newest, most
}

// grewMost returns a copy of the holder that grew most; nil where none grew.
func grewMost(list []api.Held) (most *api.Held) {
	for _, h := range list {
		if h.Grew != nil && *h.Grew > 0 && (most == nil || *h.Grew > *most.Grew) {
			most = &h
		}
	}
	return most
}

// File opens a recording, which the caller closes. The error is [ErrUnknown], or the
// system's.
func (s *Store) File(tenant, id string) (*os.File, api.Recording, error) {
	s.mu.Lock()
	r := s.runs[key{tenant, id}]
	if r == nil {
		s.mu.Unlock()
		return nil, api.Recording{}, ErrUnknown
	}
	run := *r
	s.mu.Unlock()
	f, err := os.Open(s.recording(&run))
	if errors.Is(err, os.ErrNotExist) { // dropped meanwhile
		err = ErrUnknown
	}
	return f, run, err
}

// Add keeps a recording that is read to its end. Of the run that the caller gives,
// Tenant, Service, Version, Instance and Why count, and what they leave open the recording
// says itself. Old tells that it was here already; then it stays as it was. The error is
// [ErrLong], [ErrFormat], [ErrClosed], what the reader said, or the system's.
func (s *Store) Add(in io.Reader, about api.Recording) (kept api.Recording, old bool, err error) {
	tmp, id, n, err := s.receive(in)
	if err != nil {
		return kept, false, err
	}
	defer os.Remove(tmp) // gone when it has its name
	run, err := describe(tmp, about)
	if err != nil {
		return kept, false, err
	}
	run.ID, run.Bytes = id, n
	return s.keep(tmp, run)
}

// keep gives a recording its name.
func (s *Store) keep(tmp string, r api.Recording) (kept api.Recording, old bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return kept, false, ErrClosed
	}
	if have := s.runs[key{r.Tenant, r.ID}]; have != nil {
		return *have, true, nil
	}
	r.Kept, r.Diagnosis = s.now().UTC(), api.Diagnosis{State: api.Waiting}
	s.dropFor(r.Bytes, 1)
	if err := s.save(&r); err != nil {
		return kept, false, err
	}
	err = os.Rename(tmp, s.recording(&r))
	if err == nil {
		err = durable.SyncDir(s.dir)
	}
	if err != nil {
		os.Remove(s.recording(&r))
		os.Remove(s.sidecar(&r))
		return kept, false, err
	}
	s.has(&r)
	s.poke()
	return r, false, nil
}

// has notes that a run is here. The lock is held.
func (s *Store) has(r *api.Recording) {
	s.runs[key{r.Tenant, r.ID}] = r
	list := s.of[subjectOf(r)]
	at, _ := slices.BinarySearchFunc(list, r, func(a, b *api.Recording) int { return b.Began().Compare(a.Began()) })
	s.of[subjectOf(r)] = slices.Insert(list, at, r)
	s.total += r.Bytes
}

// dropFor drops the oldest until there is room for a number of runs with a number of bytes. The
// lock is held.
func (s *Store) dropFor(bytes int64, n int) {
	room := func() bool { return s.total+bytes <= s.options.Total && len(s.runs)+n <= s.options.Count }
	if room() {
		return
	}
	for _, r := range s.byAge() {
		if room() {
			return
		}
		s.drop(r)
	}
}

// byAge returns all runs, those that have been here longest first. The lock is held.
func (s *Store) byAge() (all []*api.Recording) {
	for _, r := range s.runs {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *api.Recording) int { return cmp.Or(a.Kept.Compare(b.Kept), cmp.Compare(a.ID, b.ID)) })
	return all
}

// drop removes a recording, and what is known of it behind that. The lock is held.
func (s *Store) drop(r *api.Recording) {
	if err := os.Remove(s.recording(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return // it is tried again
	}
	os.Remove(s.sidecar(r))
	delete(s.runs, key{r.Tenant, r.ID})
	left := slices.DeleteFunc(s.of[subjectOf(r)], func(x *api.Recording) bool { return x == r })
	if s.of[subjectOf(r)] = left; len(left) == 0 {
		delete(s.of, subjectOf(r))
	}
	s.total -= r.Bytes
}

func (s *Store) sweepOften(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		s.sweep()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sweep drops what is too old, or too much.
func (s *Store) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropFor(0, 0)
	s.sweepParts()
	if s.options.Keep <= 0 {
		return
	}
	for _, r := range s.byAge() {
		if s.now().Sub(r.Kept) > s.options.Keep {
			s.drop(r)
		}
	}
}

func (s *Store) recording(r *api.Recording) string { return filepath.Join(s.dir, stem(r)+recordingEnd) }
func (s *Store) sidecar(r *api.Recording) string   { return filepath.Join(s.dir, stem(r)+sidecarEnd) }
