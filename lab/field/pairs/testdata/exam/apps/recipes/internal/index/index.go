// Package index finds documents by their words while others are added.
package index

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"recipes/internal/segment"
)

// An Index is safe for concurrent use. Searches see what was there at the last Refresh.
type Index struct {
	policy   Policy
	mu       sync.Mutex
	pending  []segment.Document
	segments atomic.Pointer[[]*segment.Segment]
}

// New returns an empty index.
func New(p Policy) *Index {
	x := &Index{policy: p}
	x.segments.Store(new([]*segment.Segment))
	return x
}

// Add takes a document for the next Refresh.
func (x *Index) Add(d segment.Document) {
	x.mu.Lock()
	x.pending = append(x.pending, d)
	x.mu.Unlock()
}

// Refresh makes what was added visible.
func (x *Index) Refresh() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.pending) == 0 {
		return
	}
	now := append(slices.Clone(*x.segments.Load()), segment.Build(x.pending))
	x.pending = x.pending[:0]
	if from := x.policy(now); from < len(now)-1 {
		now = append(now[:from:from], segment.Merge(now[from:]))
	}
	x.segments.Store(&now)
}

// A Hit is a document and how well it fits.
type Hit struct {
	ID    uint32
	Score float64
}

// Search returns the documents that fit a query best.
func (x *Index) Search(query string, limit int) []Hit {
	segments := *x.segments.Load()
	total := 0
	for _, s := range segments {
		total += s.Docs
	}
	scores := map[uint32]float64{}
	type found struct {
		id        uint32
		n, length int
	}
	for _, w := range segment.Words(query) {
		var all []found
		for _, s := range segments {
			s.Find(w, func(id uint32, n, length int) { all = append(all, found{id, n, length}) })
		}
		idf := math.Log(1 + (float64(total-len(all))+0.5)/(float64(len(all))+0.5))
		for _, f := range all {
			tf := float64(f.n)
			scores[f.id] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(f.length)/20))
		}
	}
	hits := make([]Hit, 0, len(scores))
	for id, s := range scores {
		hits = append(hits, Hit{id, s})
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return hits[:min(limit, len(hits))]
}
