// Package rollup sums the values of each series up.
package rollup

import (
	"math"

	"substationfeed/internal/tags"
)

// Series is the running summary of one series.
type Series struct {
	Tags     tags.Set
	N        int
	Min, Max float64
	Mean     float64
	Buckets  [48]uint32
	Last     float64
	LastAt   int64
}

// Table finds series by the hash of their tags.
type Table map[uint64]*Series

// Get returns the series of the tags, which are copied when it is new.
func (t Table) Get(set tags.Set) *Series {
	h := set.Hash()
	s := t[h]
	if s == nil {
		s = &Series{Tags: append(tags.Set(nil), set...), Min: math.Inf(1), Max: math.Inf(-1)}
		t[h] = s
	}
	return s
}

// Add takes a value in.
func (s *Series) Add(v float64) {
	s.N++
	s.Mean += (v - s.Mean) / float64(s.N)
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	b := int(math.Log2(math.Abs(v)+1) * 4)
	s.Buckets[min(b, len(s.Buckets)-1)]++
}
