// Package match finds the payments that the bank and the books do not agree on.
package match

import (
	"sync"

	"settlement/internal/pages"
)

// A Job is a merchant's statement of a day.
type Job struct{ Merchant, Day int }

// Options are the settings of a desk.
type Options struct {
	Scoped  bool // cursors belong to jobs
	Workers int
}

// A Summary is what came out.
type Summary struct {
	Jobs, Matched, Differing int
	Open                     int64
}

func (s *Summary) add(o Summary) {
	s.Jobs += o.Jobs
	s.Matched += o.Matched
	s.Differing += o.Differing
	s.Open += o.Open
}

// A Desk works through jobs.
type Desk struct {
	books, bank pages.Source
	opt         Options
}

// NewDesk returns a desk.
func NewDesk(books, bank pages.Source, opt Options) *Desk {
	return &Desk{books: books, bank: bank, opt: opt}
}

// Work works until there are no more jobs.
func (d *Desk) Work(jobs <-chan Job) (Summary, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		sum   Summary
		first error
	)
	for range d.opt.Workers {
		wg.Go(func() {
			for j := range jobs {
				s, err := d.Reconcile(j)
				mu.Lock()
				sum.add(s)
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sum, first
}

// Reconcile goes through both sides of a statement. What was booked after the last payment of
// the bank is of tomorrow's statement.
func (d *Desk) Reconcile(j Job) (sum Summary, err error) {
	var s scope
	defer s.end()
	sum.Jobs = 1
	booked, err := d.open(&s, d.books, j)
	if err != nil {
		return sum, err
	}
	paid, err := d.open(&s, d.bank, j)
	if err != nil {
		return sum, err
	}
	for booked.ok && paid.ok {
		b, p := booked.head, paid.head
		switch {
		case b.Ref == p.Ref && b.Cents == p.Cents:
			sum.Matched++
		case b.Ref == p.Ref:
			sum.Differing++
			sum.Open += b.Cents - p.Cents
		case b.Ref < p.Ref:
			sum.Open += b.Cents
		default:
			sum.Open -= p.Cents
		}
		if b.Ref <= p.Ref {
			if err := booked.advance(); err != nil {
				return sum, err
			}
		}
		if p.Ref <= b.Ref {
			if err := paid.advance(); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}
