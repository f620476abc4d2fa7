// Package ledger sums up the consumption of each meter.
package ledger

import "sync"

// Reading is the consumption of one meter since its last reading.
type Reading struct {
	Meter uint64
	Wh    int64
}

type page struct {
	mu sync.Mutex
	wh map[uint64]int64
}

// Book holds the sums.
type Book struct {
	pages [32]page
}

func New() *Book {
	b := new(Book)
	for i := range b.pages {
		b.pages[i].wh = make(map[uint64]int64)
	}
	return b
}

// Add books a batch of readings of one substation.
func (b *Book) Add(batch []Reading) {
	for _, r := range batch {
		p := &b.pages[r.Meter%uint64(len(b.pages))]
		p.mu.Lock()
		p.wh[r.Meter] += r.Wh
		p.mu.Unlock()
	}
}

// Totals returns the number of meters and their consumption.
func (b *Book) Totals() (meters int, wh int64) {
	for i := range b.pages {
		p := &b.pages[i]
		p.mu.Lock()
		meters += len(p.wh)
		for _, v := range p.wh {
			wh += v
		}
		p.mu.Unlock()
	}
	return meters, wh
}
