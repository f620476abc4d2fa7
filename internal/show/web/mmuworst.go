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
// cut into halves, again and again, and what no window that begins in a half can
// fall below is known without a look at its windows:
//
//   - of windows longer than the half, which all of them contain the same middle:
//     the integral from the end of the half to the first window's end, divided by
//     the length;
//   - of shorter ones, the least utilization that they can meet.
//
// The half with the least bound is looked at first, and when no bound is below the
// worst window that was found, that is the worst (branch and bound). The result is
// that of model.Utilization.Worst, to the bit: leaves are walked as it walks all.

// leafSteps is how many steps are walked rather than halved: as long as a bound takes.
const leafSteps = 32

// A worstFinder finds the worst windows of one series.
type worstFinder struct {
	steps []model.UtilStep
	sums  []float64 // the integral up to each step, in nanoseconds
	// least is the least utilization of leafSteps steps, then of two such, and so on.
	least [][]float64
	slack float64 // by how much sums, as floating-point numbers, may be off
}

func newWorstFinder(steps []model.UtilStep) *worstFinder {
	f := &worstFinder{steps: steps, sums: make([]float64, len(steps))}
	for i := 1; i < len(steps); i++ {
		f.sums[i] = f.sums[i-1] + steps[i-1].Util*float64(steps[i].At-steps[i-1].At)
	}
	f.slack = f.sums[len(steps)-1] * 0x1p-48
	level := make([]float64, (len(steps)-2)/leafSteps+1)
	for i := range level {
		level[i] = 1
		for _, s := range steps[i*leafSteps : min((i+1)*leafSteps, len(steps)-1)] {
			level[i] = min(level[i], s.Util)
		}
	}
	for {
		f.least = append(f.least, level)
		if len(level) == 1 {
			return f
		}
		above := make([]float64, (len(level)+1)/2)
		for i := range above {
			above[i] = min(level[2*i], level[min(2*i+1, len(level)-1)])
		}
		level = above
	}
}

// leastOf is a utilization that none of the steps from one to another is below.
func (f *worstFinder) leastOf(from, to int) float64 {
	a, b := from/leafSteps, to/leafSteps
	least := 1.0
	for _, level := range f.least {
		b = min(b, len(level)-1)
		if a > b {
			break
		}
		least = min(least, level[a], level[b])
		a, b = (a+1)/2, (b-1)>>1 // what is left between the two, of pairs
	}
	return least
}

// index is the last step that is not after t.
func (f *worstFinder) index(t time.Duration) int {
	i, found := slices.BinarySearchFunc(f.steps, t, func(s model.UtilStep, t time.Duration) int { return cmp.Compare(s.At, t) })
	if !found {
		i--
	}
	return min(i, len(f.steps)-1)
}

// upTo is the integral up to t.
func (f *worstFinder) upTo(t time.Duration) float64 {
	i := f.index(t)
	return f.sums[i] + f.steps[i].Util*float64(t-f.steps[i].At)
}

// A half is the windows that begin between two steps.
type half struct {
	low, high int     // of steps
	bound     float64 // of the utilization of such windows
}

// before is the order in which halves are looked at: the least bound first, and of
// equal ones the earliest, so that the first of several worst windows is found.
func (h half) before(o half) bool {
	return h.bound < o.bound || h.bound == o.bound && h.low < o.low
}

// halves are a heap of them. That of package container holds interfaces, which
// would be most of the time.
type halves []half

func (q *halves) push(h half) {
	*q = append(*q, h)
	for i := len(*q) - 1; i > 0; {
		up := (i - 1) / 2
		if !(*q)[i].before((*q)[up]) {
			return
		}
		(*q)[i], (*q)[up] = (*q)[up], (*q)[i]
		i = up
	}
}

func (q *halves) pop() half {
	all := *q
	top, last := all[0], len(all)-1
	all[0] = all[last]
	all = all[:last]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && all[down].before(all[least]) {
				least = down
			}
		}
		if least == i {
			*q = all
			return top
		}
		all[i], all[least] = all[least], all[i]
		i = least
	}
}

// A worstSearch is the search for one length in a part of the series.
type worstSearch struct {
	*worstFinder
	window      time.Duration
	first, stop time.Duration // begins of the first and the last window
	at          time.Duration
	util        float64
}

// worst is the first window of a length within [from, to] that has the least
// utilization. A window longer than that is all of it; ok is false for none.
func (f *worstFinder) worst(window, from, to time.Duration) (at time.Duration, util float64, ok bool) {
	from, to = max(from, f.steps[0].At), min(to, f.steps[len(f.steps)-1].At)
	if to <= from || window <= 0 {
		return 0, 0, false
	}
	s := &worstSearch{worstFinder: f, window: min(window, to-from), first: from, util: math.Inf(1)}
	s.stop = to - s.window
	queue := halves{s.half(f.index(from), f.index(s.stop)+1)}
	for len(queue) > 0 {
		h := queue.pop()
		if h.bound > s.util || h.bound == s.util && s.begin(h.low) >= s.at {
			break
		}
		if h.high-h.low <= leafSteps {
			s.walk(h)
			continue
		}
		middle := h.low + (h.high-h.low)/2
		queue.push(s.half(h.low, middle))
		queue.push(s.half(middle, h.high))
	}
	return s.at, s.util, true
}

// begin returns when the first window that belongs to a step begins.
func (s *worstSearch) begin(step int) time.Duration { return max(s.steps[step].At, s.first) }

// end returns when the last window before a step begins.
func (s *worstSearch) end(step int) time.Duration {
	if step >= len(s.steps) {
		return s.stop
	}
	return min(s.steps[step].At, s.stop)
}

func (s *worstSearch) half(low, high int) half {
	h := half{low: low, high: high}
	begin, end := s.begin(low), s.end(high)
	if end-begin < s.window {
		h.bound = (s.upTo(begin+s.window) - s.upTo(end) - s.slack) / float64(s.window)
	} else {
		h.bound = s.leastOf(low, s.index(end+s.window))
	}
	return h
}

// walk looks at all windows of a half at which an edge meets a step: between these
// the average is linear.
func (s *worstSearch) walk(h half) {
	steps, last := s.steps, len(s.steps)-1
	t, end := s.begin(h.low), s.end(h.high)
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
