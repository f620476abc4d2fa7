// Package ledger stands for the stores of what was booked and what was paid.
package ledger

import (
	"settlement/internal/pages"
)

// A Store makes the payments of merchants up; a bank lacks some, and pays others late.
type Store struct {
	merchants int
	bank      bool
}

// NewBooks returns the store of what merchants have booked.
func NewBooks(merchants int) *Store { return &Store{merchants: merchants} }

// NewBank returns the store of what the bank has paid.
func NewBank(merchants int) *Store { return &Store{merchants: merchants, bank: true} }

// payments is how many a merchant has in a day.
func (s *Store) payments(merchant, day int) int {
	n := 500 + int(mix(uint64(merchant)<<20|uint64(day))%900)
	if s.bank {
		n -= n / 5 // what is booked late is paid tomorrow
	}
	return n
}

// Page implements pages.Source.
func (s *Store) Page(merchant, day, n int, into []byte) (int, error) {
	first := n * pages.PerPage()
	last := min(first+pages.PerPage(), s.payments(merchant, day))
	if first >= last {
		return 0, nil
	}
	page := into[:0]
	for i := first; i < last; i++ {
		seed := mix(uint64(merchant)<<40 | uint64(day)<<24 | uint64(i))
		r := pages.Record{Ref: uint64(i)*1000 + seed%1000, Cents: int64(100 + seed%20000)}
		if s.bank && seed%97 == 0 {
			continue
		}
		if s.bank && seed%211 == 0 {
			r.Cents -= 35 // a fee
		}
		page = pages.Append(page, r)
	}
	return len(pages.Seal(page)), nil
}

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
