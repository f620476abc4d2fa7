package model

import (
	"iter"
	"math"
	"slices"
	"time"
)

// Mutator utilization is the share of the Ps that the program itself could
// use at an instant; the minimum mutator utilization (MMU) of a window length
// is the worst average over any window of that length. The definition is that
// of Cheng and Blelloch, "A parallel, real-time garbage collector" (PLDI 2001);
// flags and per-P reading are those of `go tool trace`.
//
// The tool itself, from Go 1.22 on, forgets to clear a background worker when
// it leaves its P, so that its utilization stays at zero after the first few
// collections; it ends the series at the last change instead of at the end of
// the trace, and keeps the lowest value of an instant until the next event.
// Here the load is a plain sum of begins and ends, all changes of an instant
// are applied together, and a series ends where the window ends.

// LoadFlags choose what counts as taken from the program.
type LoadFlags uint8

// The flags, as the reference tool offers them.
const (
	CountSTW        LoadFlags = 1 << iota // stopped worlds
	CountBackground                       // dedicated and fractional mark workers
	CountAssist                           // goroutines that must help marking
	CountSweep                            // goroutines that must help sweeping
	// PerProc gives each P a series of its own: a goroutine is then seen as
	// bound to one P, and the worst P decides. Dedicated workers do not count
	// in it, for they push the goroutines to other Ps.
	PerProc
)

// CountAll is everything the collector takes, averaged over the Ps.
const CountAll = CountSTW | CountBackground | CountAssist | CountSweep

// A UtilStep is one step of a utilization series: Util, from 0 to 1, holds
// from At to the next step. The last step of a series marks its end; its Util is 0.
type UtilStep struct {
	At   time.Duration
	Util float64
}

// Utilization is mutator utilization over time: one series, or with [PerProc]
// one for each life of a P (a P that GOMAXPROCS removes and brings back has two).
type Utilization [][]UtilStep

// Utilization computes mutator utilization over [from, to). procs is
// GOMAXPROCS before the first [LoadProcs] change; with 0 the series begins at
// that change. It is nil when there is no P or no time.
//
// A load on a P outside 0..GOMAXPROCS-1 is ignored, and so is an end without
// a begin: it says nothing about when that load began.
func (g *GC) Utilization(flags LoadFlags, procs int, from, to time.Duration) Utilization {
	if to <= from {
		return nil
	}
	r := replay{flags: flags, from: from, now: from}
	r.setProcs(procs)
	r.record(nil, true)
	for changes := range g.instants(to) {
		r.record(r.apply(changes))
	}
	for _, s := range r.open {
		r.end(s, to)
	}
	return r.done
}

// LoadTime returns the P time that the collector took in [from, to): what
// [GC.Utilization] averages, as a sum. Ps with several loads at once count
// once, a stopped world counts for all of them. Unlike the ranges of a
// goroutine group, which go on while the goroutine waits for a P, this is time
// on a P.
func (g *GC) LoadTime(flags LoadFlags, procs int, from, to time.Duration) (taken time.Duration) {
	if to <= from {
		return 0
	}
	r := replay{flags: flags &^ PerProc, from: from, now: from}
	r.setProcs(procs)
	for changes := range g.instants(to) {
		before := r.now
		busy := r.collectorPs()
		r.apply(changes)
		taken += time.Duration(busy) * (r.now - before)
	}
	return taken + time.Duration(r.collectorPs())*(to-r.now)
}

// instants iterates over the load changes before a time, those of one instant together.
func (g *GC) instants(to time.Duration) iter.Seq[[]LoadChange] {
	return func(yield func([]LoadChange) bool) {
		for rest := g.Load; len(rest) > 0 && rest[0].At < to; {
			n := 1
			for n < len(rest) && rest[n].At == rest[0].At {
				n++
			}
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// replay is the state of the collector's load while it is walked in time order.
type replay struct {
	flags LoadFlags
	from  time.Duration
	now   time.Duration // of the changes being applied, not before from
	procs int
	stw   int32
	load  []int32      // by P, also of Ps that GOMAXPROCS does not have now
	busy  int          // Ps below procs with a load
	open  [][]UtilStep // the series being written: one, or by P with PerProc
	touch []int32      // scratch of apply
	done  Utilization
}

// maxProcs bounds what a corrupt P number can make us allocate.
const maxProcs = 1 << 16

// apply takes all changes of one instant together: their order within it
// means nothing, and a P that is handed from one load to the next at the same
// nanosecond was never free. It returns the Ps whose load changed, and whether
// all of them are concerned.
func (r *replay) apply(changes []LoadChange) (touched []int32, all bool) {
	r.now = max(changes[0].At, r.from)
	touched = r.touch[:0]
	for _, c := range changes {
		switch {
		case c.Kind == LoadProcs:
			if n := min(int(c.Delta), maxProcs); n > 0 && n != r.procs {
				r.setProcs(n)
				all = true
			}
		case !r.counts(c):
		case c.Kind == LoadSTW:
			r.stw += c.Delta
			all = true
		case c.Proc >= 0 && c.Proc < maxProcs:
			r.add(c.Proc, c.Delta)
			touched = append(touched, c.Proc)
		}
	}
	r.stw = max(r.stw, 0)
	for _, p := range touched {
		r.load[p] = max(r.load[p], 0)
	}
	r.touch = touched
	return touched, all
}

// collectorPs returns the number of Ps that the collector has now.
func (r *replay) collectorPs() int {
	if r.stw > 0 {
		return r.procs
	}
	return r.busy
}

func (r *replay) counts(c LoadChange) bool {
	switch c.Kind {
	case LoadSTW:
		return r.flags&CountSTW != 0
	case LoadBackground:
		return r.flags&CountBackground != 0 && !(c.Dedicated && r.flags&PerProc != 0)
	case LoadAssist:
		return r.flags&CountAssist != 0
	case LoadSweep:
		return r.flags&CountSweep != 0
	}
	return false
}

func (r *replay) add(p, delta int32) {
	for int(p) >= len(r.load) {
		r.load = append(r.load, 0)
	}
	was := r.load[p] > 0
	r.load[p] += delta
	if is := r.load[p] > 0; was != is && int(p) < r.procs {
		if is {
			r.busy++
		} else {
			r.busy--
		}
	}
}

// setProcs follows GOMAXPROCS: the series of Ps that go away end here.
func (r *replay) setProcs(n int) {
	series := min(n, 1)
	if r.flags&PerProc != 0 {
		series = n
	}
	for len(r.open) > series {
		last := len(r.open) - 1
		r.end(r.open[last], r.now)
		r.open = r.open[:last]
	}
	for len(r.open) < series {
		r.open = append(r.open, nil)
	}
	r.procs, r.busy = n, 0
	for p := range min(n, len(r.load)) {
		if r.load[p] > 0 {
			r.busy++
		}
	}
}

// record writes the state after an instant into the series that can have changed.
func (r *replay) record(touched []int32, all bool) {
	switch {
	case r.flags&PerProc == 0:
		if r.procs > 0 {
			r.open[0] = step(r.open[0], r.now, 1-float64(r.collectorPs())/float64(r.procs))
		}
	case all:
		for p := range r.open {
			r.open[p] = step(r.open[p], r.now, r.utilOf(p))
		}
	default:
		for _, p := range touched {
			if int(p) < len(r.open) {
				r.open[p] = step(r.open[p], r.now, r.utilOf(int(p)))
			}
		}
	}
}

// utilOf returns the utilization of one P.
func (r *replay) utilOf(p int) float64 {
	if r.stw > 0 || p < len(r.load) && r.load[p] > 0 {
		return 0
	}
	return 1
}

// step appends a change; a later word about the same instant replaces the
// earlier one, which held for no time.
func step(s []UtilStep, at time.Duration, util float64) []UtilStep {
	if n := len(s); n > 0 && s[n-1].At == at {
		s = s[:n-1]
	}
	if n := len(s); n > 0 && s[n-1].Util == util {
		return s
	}
	return append(s, UtilStep{at, util})
}

// end closes a series; one that covers no time is dropped.
func (r *replay) end(s []UtilStep, at time.Duration) {
	if n := len(s); n > 0 && s[n-1].At == at {
		s = s[:n-1]
	}
	if len(s) > 0 {
		r.done = append(r.done, append(s, UtilStep{At: at}))
	}
}

// Worst returns the begin of the first window of the given length with the lowest average
// utilization in any of the series, and that average exactly: the minimum mutator
// utilization. A window longer than a series counts as the whole series; one of 0 or less
// gives the lowest utilization at any instant. Without a P or time it is NaN.
func (u Utilization) Worst(window time.Duration) (at time.Duration, util float64) {
	util = math.NaN()
	for _, s := range u {
		series(s).slide(window, func(t time.Duration, mean float64) {
			if !(mean >= util) {
				at, util = t, mean
			}
		})
	}
	return at, util
}

// Mean returns the average utilization over all series.
func (u Utilization) Mean() float64 {
	var sum, whole float64
	for _, s := range u {
		last := len(s) - 1
		sum += series(s).sums()[last]
		whole += float64(s[last].At - s[0].At)
	}
	return sum / whole // NaN without a series
}

// MUD returns quantiles (0 to 1) of the mutator utilization distribution: of
// the average utilization over all windows of the given length, wherever they
// begin. Quantile 0 is the MMU. All are NaN without a P or time.
func (u Utilization) MUD(window time.Duration, quantiles ...float64) []float64 {
	stops := 0
	for _, s := range u {
		stops += 2 * len(s) // each edge of the window meets each step
	}
	d := make(distribution, 0, stops)
	for _, s := range u {
		first := true
		var t0 time.Duration
		var u0 float64
		series(s).slide(window, func(t time.Duration, mean float64) {
			// The average of a sliding window is linear between two stops, so
			// the time between them spreads evenly over the values between.
			switch {
			case first:
				d.add(mean, mean, 0)
			case window <= 0: // no window: the value holds until the next stop
				d.add(u0, u0, t-t0)
			default:
				d.add(u0, mean, t-t0)
			}
			first, t0, u0 = false, t, mean
		})
	}
	return d.quantiles(quantiles)
}

// series is one series of a [Utilization].
type series []UtilStep

// slide moves a window over the series from its begin to its end and calls
// visit with the window's begin and average wherever one of its edges meets a
// step. In between the average is linear, so its extremes are among the stops.
func (s series) slide(window time.Duration, visit func(at time.Duration, mean float64)) {
	last := len(s) - 1
	if window <= 0 {
		for _, step := range s[:last] {
			visit(step.At, step.Util)
		}
		visit(s[last].At, s[last-1].Util)
		return
	}
	window = min(window, s[last].At-s[0].At)
	sums := s.sums()
	stop := s[last].At - window
	left, right := 0, 0
	for t := s[0].At; ; {
		for s[left+1].At <= t {
			left++
		}
		for right < last && s[right+1].At <= t+window {
			right++
		}
		mean := s[left].Util // exact where the window lies within one step
		if left != right {
			from := sums[left] + s[left].Util*float64(t-s[left].At)
			to := sums[right] + s[right].Util*float64(t+window-s[right].At)
			mean = min(max((to-from)/float64(window), 0), 1)
		}
		visit(t, mean)
		if t >= stop {
			return
		}
		t = min(s[left+1].At, s[right+1].At-window, stop)
	}
}

// sums returns the integral of the series up to each step.
func (s series) sums() []float64 {
	sums := make([]float64, len(s))
	for i := 1; i < len(s); i++ {
		sums[i] = sums[i-1] + s[i-1].Util*float64(s[i].At-s[i-1].At)
	}
	return sums
}

// distribution is time spread over values: each part evenly between two.
type distribution []struct{ low, high, mass float64 }

func (d *distribution) add(a, b float64, mass time.Duration) {
	*d = append(*d, struct{ low, high, mass float64 }{min(a, b), max(a, b), float64(mass)})
}

// below returns the mass at or below v.
func (d distribution) below(v float64) (mass float64) {
	for _, p := range d {
		switch {
		case v >= p.high:
			mass += p.mass
		case v > p.low:
			mass += p.mass * (v - p.low) / (p.high - p.low)
		}
	}
	return mass
}

// between leaves, in the place of d, what a value between a and b can divide, and adds the
// mass that is below all of these to under.
func (d distribution) between(a, b, under float64) (distribution, float64) {
	rest := d[:0]
	for _, p := range d {
		switch {
		case p.high <= a:
			under += p.mass
		case p.low < b:
			rest = append(rest, p)
		}
	}
	return rest, under
}

// quantiles bisects, for a sum over densities would lose small masses to
// cancellation beside very steep parts.
func (d distribution) quantiles(qs []float64) []float64 {
	low, high, total := math.NaN(), math.NaN(), 0.0
	for i, p := range d {
		if i == 0 {
			low, high = p.low, p.high
		}
		low, high, total = min(low, p.low), max(high, p.high), total+p.mass
	}
	out := make([]float64, len(qs))
	for i, q := range qs {
		a, b := low, high
		if d.below(low) >= q*total {
			b = low
		}
		rest, under := slices.Clone(d), 0.0
		for range 50 { // past the precision of a float64 in [0, 1]
			if mid := a + (b-a)/2; under+rest.below(mid) >= q*total {
				b = mid
			} else {
				a = mid
			}
			rest, under = rest.between(a, b, under)
		}
		out[i] = b
	}
	return out
}
