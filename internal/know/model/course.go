package model

import (
	"slices"
	"time"
)

// CoursePieces is into how many pieces a course is cut: thirds of four, since the kernel's
// 200 samples a second are still tens in each of ten seconds, and a step can be told from
// a slope inside a third.
const CoursePieces = 12

// A Course is how the run went on: how many operations ended in each of equal pieces of it,
// and where the CPU was meanwhile.
type Course struct {
	From, To   time.Duration // since the window's start
	Operations []float64     // ended in each piece
	Counted    *Operations   // what they are, and where their number is from
	samples    [][]float64   // by piece, of each sample of Kernel.CPU
}

// Course cuts the run, nil where operations or the samples of the kernel have no times.
func (m *Model) Course() *Course {
	if m.Kernel == nil || m.Kernel.CPU == nil || len(m.Kernel.Moments) == 0 {
		return nil
	}
	counted := m.Operations()
	done := m.operationsDone(counted)
	first, _ := done.First()
	last, ok := done.Last()
	if !ok {
		return nil
	}
	moments := m.Kernel.Moments
	c := &Course{Counted: counted, samples: make([][]float64, len(m.Kernel.CPU.Samples))}
	c.From = max(0, first.At, moments[0].At)
	c.To = min(m.Run.Duration, last.At, moments[len(moments)-1].At)
	width := (c.To - c.From) / CoursePieces
	if width <= 0 {
		return nil
	}
	for i := range time.Duration(CoursePieces) {
		from := c.From + i*width
		c.Operations = append(c.Operations, done.At(from+width)-done.At(from))
	}
	for _, x := range moments {
		if piece := (x.At - c.From) / width; x.At >= c.From && piece < CoursePieces {
			if c.samples[x.Sample] == nil {
				c.samples[x.Sample] = make([]float64, CoursePieces)
			}
			c.samples[x.Sample][piece]++
		}
	}
	return c
}

// Samples returns how many of the kernel's samples that match fell into each piece; nil
// matches all.
func (c *Course) Samples(match func(sample int) bool) []float64 {
	n := make([]float64, CoursePieces)
	for i, by := range c.samples {
		if by != nil && (match == nil || match(i)) {
			for piece, v := range by {
				n[piece] += v
			}
		}
	}
	return n
}

// operationsDone returns how many operations had ended by the time, empty where that is not
// known. Goroutines of a server that were created are taken for operations that ended where
// nearly no others were.
func (m *Model) operationsDone(o *Operations) (done Series) {
	switch {
	case o == nil:
	case o.Source == LoadResult && m.Load.Known:
		return m.Load.done()
	case o.From == fromServed && m.Metrics != nil:
		created := m.Metrics.Series[createdMetric]
		if all, _, ok := created.Delta(); !ok || o.Count < mostCreated*all {
			return nil
		}
		return slices.Clone(created)
	}
	return nil
}

const (
	createdMetric = "/sched/goroutines-created:goroutines" // since Go 1.26
	// mostCreated is the part of all goroutines created that a server's must be so that
	// the others do not matter: with a tenth of others a third of the run can have a
	// tenth more, which is far below any growth that counts.
	mostCreated = 0.9
)

// done returns how many operations had ended by the end of each interval, from the first in
// which some did. The last interval may be shorter than it says, and is left out then.
func (l *Load) done() (done Series) {
	n, widest := 0.0, time.Duration(0)
	for _, i := range l.Over {
		widest = max(widest, i.Width)
		if i.Width < widest || len(done) == 0 && i.Ops == 0 {
			continue
		}
		if len(done) == 0 {
			done = append(done, Point{At: i.At})
		}
		n += float64(i.Ops)
		done = append(done, Point{At: i.At + i.Width, Value: n})
	}
	return done
}
