// Package series keeps the distribution of each link's times.
package series

import (
	"fmt"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Bounds are the range of what is recorded, and how many digits of it are told apart.
type Bounds struct {
	Lowest, Highest int64
	Digits          int
}

// A Key names a series.
type Key struct{ Site, Link, Kind string }

// A Series is a distribution.
type Series struct {
	mu   sync.Mutex
	hist *hdrhistogram.Histogram
	lost int64
}

func newSeries(b Bounds) *Series {
	return &Series{hist: hdrhistogram.New(b.Lowest, b.Highest, b.Digits)}
}

// Record adds a time.
func (s *Series) Record(v int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hist.RecordValue(v)
}

// Lost counts a probe without an answer.
func (s *Series) Lost() {
	s.mu.Lock()
	s.lost++
	s.mu.Unlock()
}

// Figures are the percentiles of a series.
type Figures struct {
	Count int64 `json:"count"`
	Lost  int64 `json:"lost"`
	P50   int64 `json:"p50"`
	P95   int64 `json:"p95"`
	P99   int64 `json:"p99"`
}

// Figures returns them as they are now.
func (s *Series) Figures() Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Figures{
		Count: s.hist.TotalCount(), Lost: s.lost,
		P50: s.hist.ValueAtQuantile(50), P95: s.hist.ValueAtQuantile(95), P99: s.hist.ValueAtQuantile(99),
	}
}

// A Registry has all series.
type Registry struct {
	bounds Bounds
	get    func(Key) *Series
	all    sync.Map // of *Series by Key
}

// NewRegistry returns a registry without series.
func NewRegistry(register string, b Bounds) (*Registry, error) {
	r := &Registry{bounds: b}
	switch register {
	case "upsert":
		r.get = r.upsert
	case "lookup":
		r.get = r.lookup
	default:
		return nil, fmt.Errorf("register %q: want upsert or lookup", register)
	}
	return r, nil
}

// Get returns the series of a key, which is there afterwards.
func (r *Registry) Get(k Key) *Series { return r.get(k) }

func (r *Registry) upsert(k Key) *Series {
	s, _ := r.all.LoadOrStore(k, newSeries(r.bounds))
	return s.(*Series)
}

func (r *Registry) lookup(k Key) *Series {
	if s, ok := r.all.Load(k); ok {
		return s.(*Series)
	}
	return r.upsert(k)
}

// Each calls f for the series of a site.
func (r *Registry) Each(site string, f func(Key, *Series)) {
	r.all.Range(func(k, s any) bool {
		if k := k.(Key); k.Site == site {
			f(k, s.(*Series))
		}
		return true
	})
}
