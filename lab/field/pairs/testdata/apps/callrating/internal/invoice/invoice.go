// Package invoice collects the charges of subscribers.
package invoice

import (
	"hash/maphash"
	"strconv"

	"callrating/internal/cdr"
	"callrating/internal/rating"
)

type Account struct {
	Calls int
	Cost  int64
	last  [4]string
}

// Run is a billing run.
type Run struct {
	accounts map[string]*Account
	seen     map[uint64]struct{}
	seed     maphash.Seed
	buf      []byte
	Written  int
	Digest   uint64
}

func NewRun() *Run {
	return &Run{accounts: make(map[string]*Account), seen: make(map[uint64]struct{}), seed: maphash.MakeSeed()}
}

// Reset begins a new period.
func (r *Run) Reset() {
	clear(r.seen)
}

// Add books a charge, and writes its line of the itemised bill.
func (r *Run) Add(c *cdr.Record, ch rating.Charge) bool {
	if _, dup := r.seen[c.ID]; dup {
		return false
	}
	r.seen[c.ID] = struct{}{}
	a := r.accounts[c.Caller]
	if a == nil {
		a = new(Account)
		r.accounts[c.Caller] = a
	}
	a.last[a.Calls%len(a.last)] = c.Called
	a.Calls++
	a.Cost += ch.Cost
	b := c.Start.AppendFormat(r.buf[:0], "02.01.2006 15:04:05")
	b = append(b, ' ')
	b = strconv.AppendQuote(b, c.Called)
	for _, n := range ch.Units {
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(b, ' ')
	b = strconv.AppendFloat(b, float64(ch.Cost)/10000, 'f', 4, 64)
	r.buf = b
	r.Written += len(b)
	r.Digest += maphash.Bytes(r.seed, b)
	return true
}

func (r *Run) Total() (accounts int, cost int64) {
	for _, a := range r.accounts {
		cost += a.Cost
	}
	return len(r.accounts), cost
}
