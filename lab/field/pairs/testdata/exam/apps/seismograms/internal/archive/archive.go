// Package archive keeps traces for those who look for quakes.
package archive

import "encoding/binary"

// A Trace is what is kept of a block.
type Trace struct {
	Station int
	Start   int64
	Count   int
	packed  []byte
}

// Samples unpacks a trace.
func (t *Trace) Samples() []int32 {
	out := make([]int32, 0, t.Count)
	v := int64(0)
	for p := t.packed; len(p) > 0; {
		d, n := binary.Varint(p)
		v += d
		out = append(out, int32(v))
		p = p[n:]
	}
	return out
}

// A Store keeps the latest traces.
type Store struct {
	most    int
	traces  []Trace
	total   int
	scratch []byte
}

// New makes a store of so many traces at most.
func New(most int) *Store { return &Store{most: most} }

// Add keeps a trace as the differences of its samples.
func (s *Store) Add(station int, start int64, samples []int32) {
	s.scratch = s.scratch[:0]
	before := int64(0)
	for _, v := range samples {
		s.scratch = binary.AppendVarint(s.scratch, int64(v)-before)
		before = int64(v)
	}
	t := Trace{Station: station, Start: start, Count: len(samples), packed: append([]byte(nil), s.scratch...)}
	if len(s.traces) < s.most {
		s.traces = append(s.traces, t)
	} else {
		s.traces[s.total%s.most] = t
	}
	s.total++
}

// Traces is how many were added.
func (s *Store) Traces() int { return s.total }

// Bytes is how many are kept.
func (s *Store) Bytes() (n int) {
	for _, t := range s.traces {
		n += len(t.packed)
	}
	return n
}

// Each calls f for those that are kept.
func (s *Store) Each(f func(*Trace)) {
	for i := range s.traces {
		f(&s.traces[i])
	}
}
