// Package head keeps the newest samples of all series in memory.
package head

import (
	"fmt"
	"sync"

	"tremors/internal/chunk"
)

// A Ref names a series.
type Ref uint32

// Options are the settings of a head.
type Options struct {
	ChunkSamples int  // samples of a chunk before the next is begun
	Resident     bool // series have their appender with them
}

type series struct {
	mu     sync.Mutex
	name   string
	chunks []*chunk.Chunk
	app    *chunk.Appender
}

// A Head is safe for concurrent use.
type Head struct {
	o     Options
	mu    sync.RWMutex
	all   []*series
	names map[string]Ref
}

// New returns an empty head.
func New(o Options) *Head { return &Head{o: o, names: map[string]Ref{}} }

// Series returns the series of a name, and makes it if it is not there.
func (h *Head) Series(name string) Ref {
	h.mu.Lock()
	defer h.mu.Unlock()
	ref, ok := h.names[name]
	if !ok {
		ref = Ref(len(h.all))
		h.names[name] = ref
		h.all = append(h.all, &series{name: name})
	}
	return ref
}

func (h *Head) get(ref Ref) (*series, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if int(ref) >= len(h.all) {
		return nil, fmt.Errorf("head: no series %d", ref)
	}
	return h.all[ref], nil
}

// appender returns what adds to the newest chunk of a series.
func (h *Head) appender(s *series) (*chunk.Appender, error) {
	n := len(s.chunks)
	if n == 0 || s.chunks[n-1].Len() >= h.o.ChunkSamples {
		s.chunks = append(s.chunks, chunk.New())
		s.app = nil
		n++
	}
	if s.app != nil {
		return s.app, nil
	}
	app, err := s.chunks[n-1].Appender()
	if err == nil && h.o.Resident {
		s.app = app
	}
	return app, err
}

// Append adds samples to a series.
func (h *Head) Append(ref Ref, sample chunk.Sample) error {
	s, err := h.get(ref)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	app, err := h.appender(s)
	if err != nil {
		return err
	}
	app.Append(sample)
	return nil
}

// Since calls f with the samples of a series that are not older than a time.
func (h *Head) Since(ref Ref, t int64, f func(chunk.Sample)) error {
	s, err := h.get(ref)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.chunks {
		it := c.Iterator()
		for it.Next() {
			if at := it.At(); at.Time >= t {
				f(at)
			}
		}
		if it.Err() != nil {
			return it.Err()
		}
	}
	return nil
}
