// Package review looks through the newest samples for what exceeds a threshold.
package review

import (
	"math"

	"tremors/internal/chunk"
	"tremors/internal/head"
)

// A Summary is what is said of a series.
type Summary struct {
	Count int
	Peak  float64
	Mean  float64
}

// Window sums up the samples of a series since a time.
func Window(h *head.Head, ref head.Ref, since int64) (Summary, error) {
	var s Summary
	var sum float64
	err := h.Since(ref, since, func(x chunk.Sample) {
		s.Count++
		sum += x.Value
		s.Peak = math.Max(s.Peak, math.Abs(x.Value))
	})
	if s.Count > 0 {
		s.Mean = sum / float64(s.Count)
	}
	return s, err
}
