// Package market plays the books of bonds.
package market

import (
	"fmt"
	"math/rand/v2"
)

// Level is one price of a book.
type Level struct {
	Price  int64
	Size   int64
	Orders int32
	Dealer uint16
}

// Book is the state of one bond.
type Book struct {
	ISIN string
	Bids []Level
	Asks []Level
}

// Market has some books.
type Market struct {
	books []*Book
	rng   *rand.Rand
}

// New makes a market of n bonds.
func New(n int, seed uint64) *Market {
	m := &Market{rng: rand.New(rand.NewPCG(seed, 77))}
	for i := range n {
		b := &Book{ISIN: fmt.Sprintf("XS%09d%d", seed*100000+uint64(i), i%10)}
		mid := 9000 + m.rng.Int64N(2500)
		for l := range int64(40) {
			b.Bids = append(b.Bids, Level{mid - l, 1e5 * (1 + m.rng.Int64N(50)), m.rng.Int32N(9) + 1, uint16(m.rng.IntN(60))})
			b.Asks = append(b.Asks, Level{mid + 1 + l, 1e5 * (1 + m.rng.Int64N(50)), m.rng.Int32N(9) + 1, uint16(m.rng.IntN(60))})
		}
		m.books = append(m.books, b)
	}
	return m
}

// Tick lets something happen and returns the book that was touched.
func (m *Market) Tick() *Book {
	b := m.books[m.rng.IntN(len(m.books))]
	if m.rng.IntN(6) == 0 {
		side := b.Bids
		if m.rng.IntN(2) == 0 {
			side = b.Asks
		}
		l := &side[m.rng.IntN(len(side))]
		l.Size = 1e5 * (1 + m.rng.Int64N(50))
		l.Orders = m.rng.Int32N(9) + 1
	}
	return b
}
