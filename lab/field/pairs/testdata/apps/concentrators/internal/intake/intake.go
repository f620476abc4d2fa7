// Package intake takes the batches of the concentrators.
package intake

import (
	"sync"
	"sync/atomic"

	"concentrators/internal/exceptions"
	"concentrators/internal/wire"
)

// Intake books batches.
type Intake struct {
	book *exceptions.Book
	v2   bool

	batches, rejected atomic.Int64

	mu    sync.Mutex
	total [wire.Intervals]int64
}

// New returns an intake that notes exceptions in book.
func New(book *exceptions.Book, v2 bool) *Intake {
	return &Intake{book: book, v2: v2}
}

// Take decodes and books one batch.
func (in *Intake) Take(p []byte) error {
	b, err := wire.Decode(p)
	if err != nil {
		in.rejected.Add(1)
		return err
	}
	var sums [wire.Intervals]int64
	for i := range b.Registers {
		for j, v := range b.Registers[i].Wh {
			sums[j] += int64(v)
		}
	}
	in.review(b)
	in.mu.Lock()
	for j, v := range sums {
		in.total[j] += v
	}
	in.mu.Unlock()
	in.batches.Add(1)
	return nil
}

func (in *Intake) review(b *wire.Batch) {
	for i := range b.Registers {
		r := &b.Registers[i]
		switch {
		case r.Flags == 0 && r.Sum() > 0:
			in.book.Settle(r.Meter)
		case in.v2:
			in.book.OpenDay(*r)
		default:
			in.book.Open(r)
		}
	}
}

// Figures returns batches booked and refused, and the energy in kWh.
func (in *Intake) Figures() (batches, rejected, kwh int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, v := range in.total {
		kwh += v
	}
	return in.batches.Load(), in.rejected.Load(), kwh / 1000
}
