// Package pages gives memory that the collector does not know, in whole pages of the system.
package pages

import (
	"fmt"
	"sync"
	"syscall"
)

const page = 4 << 10

// Options are the settings of a pool.
type Options struct {
	Extents bool // free memory is filed by its extent, otherwise by its length
}

// A Pool keeps memory that was freed for the next who wants as much. It is safe for
// concurrent use.
type Pool struct {
	o     Options
	mu    sync.Mutex
	free  map[int][][]byte
	Stats Stats
}

// Stats are what a pool has done.
type Stats struct{ Mapped, Reused int }

// New returns an empty pool.
func New(o Options) *Pool { return &Pool{o: o, free: map[int][][]byte{}} }

// round returns how much is taken from the system for a length: whole pages, in steps of an
// eighth.
func round(n int) int {
	step := page
	for step*16 <= n {
		step *= 2
	}
	return (n + step - 1) / step * step
}

// Alloc returns memory of a length.
func (p *Pool) Alloc(n int) ([]byte, error) {
	size := round(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.free[size]; len(list) > 0 {
		b := list[len(list)-1]
		p.free[size] = list[:len(list)-1]
		p.Stats.Reused++
		return b[:n], nil
	}
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("pages: %d bytes: %w", size, err)
	}
	p.Stats.Mapped++
	return b[:n], nil
}

// Free takes memory back.
func (p *Pool) Free(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := len(b)
	if p.o.Extents {
		size = cap(b)
	}
	p.free[size] = append(p.free[size], b)
}
