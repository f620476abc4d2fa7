// Package scratch lends buffers for the building of reports.
package scratch

import (
	"bytes"
	"sync"
)

// Store lends buffers and takes them back.
type Store struct {
	pool sync.Pool
	max  int
}

// NewStore returns a store that does not keep buffers above max bytes.
func NewStore(max int) *Store {
	return &Store{
		pool: sync.Pool{New: func() any { return new(bytes.Buffer) }},
		max:  max,
	}
}

func (s *Store) Get() *bytes.Buffer {
	return s.pool.Get().(*bytes.Buffer)
}

// Put takes a buffer back; unusually large ones are left to the collector.
func (s *Store) Put(b *bytes.Buffer) {
	if b.Cap() > s.max {
		return
	}
	b.Reset()
	s.pool.Put(b)
}
