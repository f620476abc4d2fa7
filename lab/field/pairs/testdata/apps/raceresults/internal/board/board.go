// Package board keeps the standings of events.
package board

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"raceresults/internal/timing"
)

type Row struct {
	Place, Bib int
	Name, Club string
	Marks      int
	Last       time.Duration
}

type Standing struct {
	Event int
	Rows  []Row
	Clubs map[string]time.Duration
	at    time.Time
}

type round struct {
	ready chan struct{}
	st    *Standing
	err   error
}

// Cache gives out standings that are never older than the time that the
// timing company allows for.
type Cache struct {
	Share bool

	src *timing.Client
	ttl time.Duration

	mu     sync.Mutex
	byID   map[int]*Standing
	rounds map[int]*round
}

func NewCache(src *timing.Client, ttl time.Duration) *Cache {
	return &Cache{src: src, ttl: ttl, byID: map[int]*Standing{}, rounds: map[int]*round{}}
}

func (c *Cache) Standing(ctx context.Context, event int) (*Standing, error) {
	c.mu.Lock()
	if st := c.byID[event]; st != nil && time.Since(st.at) < c.ttl {
		c.mu.Unlock()
		return st, nil
	}
	if c.Share {
		return c.join(ctx, event)
	}
	c.mu.Unlock()

	st, err := c.load(ctx, event)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.byID[event] = st
	c.mu.Unlock()
	return st, nil
}

// join is called with the lock held and gives it back.
func (c *Cache) join(ctx context.Context, event int) (*Standing, error) {
	if r := c.rounds[event]; r != nil {
		c.mu.Unlock()
		<-r.ready
		return r.st, r.err
	}
	r := &round{ready: make(chan struct{})}
	c.rounds[event] = r
	c.mu.Unlock()

	r.st, r.err = c.load(ctx, event)
	c.mu.Lock()
	if r.err == nil {
		c.byID[event] = r.st
	}
	delete(c.rounds, event)
	c.mu.Unlock()
	close(r.ready)
	return r.st, r.err
}

func (c *Cache) load(ctx context.Context, event int) (*Standing, error) {
	splits, err := c.src.Splits(ctx, event)
	if err != nil {
		return nil, err
	}
	st := &Standing{Event: event, Clubs: map[string]time.Duration{}, at: time.Now()}
	for _, s := range splits {
		r := Row{Bib: s.Bib, Name: s.Name, Club: s.Club, Marks: len(s.Marks)}
		if r.Marks > 0 {
			r.Last = time.Duration(s.Marks[r.Marks-1]) * time.Millisecond
		}
		st.Rows = append(st.Rows, r)
		st.Clubs[s.Club] += r.Last
	}
	slices.SortFunc(st.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Marks, a.Marks), cmp.Compare(a.Last, b.Last), cmp.Compare(a.Bib, b.Bib))
	})
	for i := range st.Rows {
		st.Rows[i].Place = i + 1
	}
	return st, nil
}
