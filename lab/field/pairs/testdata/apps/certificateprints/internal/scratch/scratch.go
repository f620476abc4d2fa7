// Package scratch lends buffers, to each school its own.
package scratch

import (
	"bytes"
	"sync"
)

// Pads have the buffers of schools.
type Pads struct {
	limit int
	mu    sync.Mutex
	all   map[int]*bytes.Buffer
}

// NewPads makes pads that keep buffers up to a size; 0 is any.
func NewPads(limit int) *Pads { return &Pads{limit: limit, all: map[int]*bytes.Buffer{}} }

// Take takes the buffer of a school, empty.
func (p *Pads) Take(school int) *bytes.Buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.all[school]
	if b == nil {
		return new(bytes.Buffer)
	}
	delete(p.all, school)
	b.Reset()
	return b
}

// Give gives it back.
func (p *Pads) Give(school int, b *bytes.Buffer) {
	if p.limit > 0 && b.Cap() > p.limit {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[school] = b
}
