// Package recon matches payments with open items.
package recon

import (
	"slices"
	"time"

	"ledgermatch/internal/statement"
)

// Item is an invoice that was not paid yet.
type Item struct {
	Reference string
	Debtor    string
	Contract  string
	Currency  string
	Amount    int64
	Net       int64
	Tax       int64
	Discount  int64
	Due       time.Time
	Issued    time.Time
	Cost      [6]int32
	Settled   bool
}

type Match struct {
	Reference string
	Debtor    string
	Amount    int64
	Short     int64
	LateDays  int
}

// Book is the list of the open items, by due date.
type Book struct {
	open    []Item
	settled int
	lazy    bool
}

func NewBook(items []Item, lazy bool) *Book {
	b := &Book{lazy: lazy, open: make([]Item, len(items))}
	copy(b.open, items)
	return b
}

// Match settles the items that the payments are for.
func (b *Book) Match(ps []statement.Payment) (done []Match, unknown []statement.Payment) {
	done = make([]Match, 0, len(ps))
	for i := range ps {
		p := &ps[i]
		at := b.find(p)
		if at < 0 {
			unknown = append(unknown, *p)
			continue
		}
		it := &b.open[at]
		m := Match{Reference: it.Reference, Debtor: it.Debtor, Amount: p.Amount}
		if p.Booked.After(it.Due) {
			m.LateDays = int(p.Booked.Sub(it.Due) / (24 * time.Hour))
		}
		if due := it.Amount - it.Discount; p.Amount < due {
			m.Short = due - p.Amount
		}
		done = append(done, m)
		b.settle(at)
	}
	return done, unknown
}

func (b *Book) find(p *statement.Payment) int {
	limit := p.Booked.AddDate(0, 0, 1)
	for i := range b.open {
		it := &b.open[i]
		if it.Due.After(limit) {
			return -1
		}
		if !it.Settled && it.Reference == p.Reference && it.Currency == p.Currency {
			return i
		}
	}
	return -1
}

func (b *Book) settle(i int) {
	if b.lazy {
		b.open[i].Settled = true
		if b.settled++; b.settled == 48 {
			b.open = slices.DeleteFunc(b.open, func(it Item) bool { return it.Settled })
			b.settled = 0
		}
		return
	}
	b.open = append(b.open[:i], b.open[i+1:]...)
}

// Open counts what is still to be paid.
func (b *Book) Open() (n int, sum int64) {
	for i := range b.open {
		if it := &b.open[i]; !it.Settled {
			n++
			sum += it.Amount
		}
	}
	return n, sum
}
