// Package rollup sums sales.
package rollup

import (
	"context"
	"fmt"
	"sync"

	"tillreports/internal/sales"
)

type cell struct {
	shop int
	kind string
}

// A Report has the sums of all sales up to a number.
type Report struct {
	client *Client

	mu    sync.Mutex
	upTo  int
	sums  map[cell]int
	total map[int]int // by shop
}

// New returns a report of nothing.
func New(c *Client) *Report {
	return &Report{client: c, sums: map[cell]int{}, total: map[int]int{}}
}

// Run brings the report up to date: it reads what was sold since, and takes it over when
// nobody else was further.
func (r *Report) Run(ctx context.Context) error {
	r.mu.Lock()
	begin := r.upTo
	r.mu.Unlock()
	at, sums := begin, map[cell]int{}
	for {
		page, more, err := r.client.Page(ctx, at)
		if err != nil {
			return fmt.Errorf("report from %d: %w", begin, err)
		}
		for _, s := range page {
			add(sums, s)
		}
		at += len(page)
		if !more {
			break
		}
	}
	r.take(begin, at, sums)
	return nil
}

func add(sums map[cell]int, s sales.Sale) { sums[cell{s.Shop, s.Kind}] += s.Cents }

func (r *Report) take(begin, end int, sums map[cell]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.upTo != begin {
		return
	}
	r.upTo = end
	for c, cents := range sums {
		r.sums[c] += cents
		r.total[c.shop] += cents
	}
}

// Summed is how many sales are in the report.
func (r *Report) Summed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.upTo
}

// Best tells which shop sold for most.
func (r *Report) Best() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	best := 0
	for shop, cents := range r.total {
		if c := r.total[best]; cents > c || cents == c && shop < best {
			best = shop
		}
	}
	return fmt.Sprintf("%d with %.2f", best, float64(r.total[best])/100)
}
