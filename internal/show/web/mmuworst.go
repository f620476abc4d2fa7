package web

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The worst windows of mutator utilization, without a look at all of them.
//
// A trace of half a minute has a million steps of utilization. To slide a window
// over them takes 10 ms, and a curve has 60 lengths, a list of worst windows up to
// 21 searches. But most of a run is not where its worst window is. So the steps are
// cut into blocks, and what no window that begins in a block can fall below is known
// without a look at its windows:
//
//   - of windows longer than the block, which all of them contain the same middle:
//     the integral from the end of the block to the first window's end, divided by
//     the length;
//   - of shorter ones, the least utilization that they can meet.
//
// The block with the least bound is looked at first, and when no bound is below the
// worst window that was found, that is the worst. The result is that of
// model.Utilization.Worst, to the bit: blocks are walked as it walks all.

// blockSteps is how many steps a block has: as many as take some bounds to walk.
const blockSteps = 256

// A worstFinder finds the worst windows of one series.
type worstFinder struct {
	steps []model.UtilStep
	sums  []float64 // the integral up to each step, in nanoseconds
	least []float64 // the least utilization of each block
	slack float64   // by how much sums, as floating-point numbers, may be off
}

func newWorstFinder(steps []model.UtilStep) *worstFinder {
	f := &worstFinder{steps: steps, sums: make([]float64, len(steps))}
	for i := 1; i < len(steps); i++ {
		f.sums[i] = f.sums[i-1] + steps[i-1].Util*float64(steps[i].At-steps[i-1].At)
	}
	f.slack = f.sums[len(steps)-1] * 0x1p-48
	for block := range slices.Chunk(steps[:len(steps)-1], blockSteps) {
		f.least = append(f.least, slices.MinFunc(block, func(a, b model.UtilStep) int { return cmp.Compare(a.Util, b.Util) }).Util)
	}
	return f
}

// index returns the last step that is not after t.
func (f *worstFinder) index(t time.Duration) int {
	i, found := slices.BinarySearchFunc(f.steps, t, func(s model.UtilStep, t time.Duration) int { return cmp.Compare(s.At, t) })
	if !found {
		i--
	}
	return min(i, len(f.steps)-1)
}

// upTo returns the integral up to t.
func (f *worstFinder) upTo(t time.Duration) float64 {
	i := f.index(t)
	return f.sums[i] + f.steps[i].Util*float64(t-f.steps[i].At)
}

// A worstSearch is the search for one length in a part of the series.
type worstSearch struct {
	*worstFinder
	window      time.Duration
	first, stop time.Duration // begins of the first and the last window
	at          time.Duration
	util        float64
}

// worst returns the first window of a length within [from, to] that has the least
// utilization. A window longer than that is all of it; ok is false for none.
func (f *worstFinder) worst(window, from, to time.Duration) (at time.Duration, util float64, ok bool) {
	from, to = max(from, f.steps[0].At), min(to, f.steps[len(f.steps)-1].At)
	if to <= from || window <= 0 {
		return 0, 0, false
	}
	s := &worstSearch{worstFinder: f, window: min(window, to-from), first: from, util: math.Inf(1)}
	s.stop = to - s.window
	type candidate struct {
		block int
		bound float64
	}
	var all []candidate
	for b := f.index(from) / blockSteps; b <= f.index(s.stop)/blockSteps; b++ {
		all = append(all, candidate{b, s.bound(b)})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.bound, b.bound) })
	for _, c := range all {
		if begin, _ := s.span(c.block); c.bound > s.util || c.bound == s.util && begin >= s.at {
			break
		}
		s.walk(c.block)
	}
	return s.at, s.util, true
}

// span returns when the first and the last window of a block begin.
func (s *worstSearch) span(block int) (begin, end time.Duration) {
	begin, end = max(s.steps[block*blockSteps].At, s.first), s.stop
	if next := (block + 1) * blockSteps; next < len(s.steps) {
		end = min(s.steps[next].At, s.stop)
	}
	return begin, end
}

// bound returns a utilization that no window of a block is below.
func (s *worstSearch) bound(block int) float64 {
	begin, end := s.span(block)
	if end-begin < s.window {
		return (s.upTo(begin+s.window) - s.upTo(end) - s.slack) / float64(s.window)
	}
	last := min(s.index(end+s.window)/blockSteps, len(s.least)-1)
	return slices.Min(s.least[block : last+1])
}

// walk looks at all windows of a block at which an edge meets a step: between these
// the average is linear.
func (s *worstSearch) walk(block int) {
	steps, last := s.steps, len(s.steps)-1
	t, end := s.span(block)
	left, right := s.index(t), s.index(t+s.window)
	for {
		for left < last-1 && steps[left+1].At <= t {
			left++
		}
		for right < last && steps[right+1].At <= t+s.window {
			right++
		}
		mean := steps[left].Util // exact where the window lies within one step
		if left != right {
			from := s.sums[left] + steps[left].Util*float64(t-steps[left].At)
			to := s.sums[right] + steps[right].Util*float64(t+s.window-steps[right].At)
			mean = min(max((to-from)/float64(s.window), 0), 1)
		}
		if mean < s.util || mean == s.util && t < s.at {
			s.at, s.util = t, mean
		}
		if t >= end {
			return
		}
		next := min(steps[left+1].At, end)
		if right < last {
			next = min(next, steps[right+1].At-s.window)
		}
		t = next
	}
}
