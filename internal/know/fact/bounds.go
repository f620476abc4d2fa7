package fact

import "math"

// The formulas of bounds. All of them are about one resource that the fix
// takes away and leave everything else as it is, so that the truth is never
// better than they say; none of them adds up waiting times, for waits of
// different goroutines overlap.

// Amdahl returns what is left of a whole when a part of it costs nothing any more: 1 - share
// (G. Amdahl, AFIPS 1967, for a part made infinitely fast). Share and result are 0 to 1.
func Amdahl(share float64) float64 {
	return 1 - min(max(share, 0), 1)
}

// LargestShare returns the largest share, 0 to 1, of which n samples may well show the given
// one: the upper end of Wilson's 95% interval (E. Wilson, JASA 1927). A bound
// from few samples has to be wider than one from many.
func LargestShare(share float64, n int64) float64 {
	if n <= 0 || share >= 1 {
		return 1
	}
	const z = 1.96
	p, k := max(share, 0), float64(n)
	return min(1, (p+z*z/(2*k)+z*math.Sqrt(p*(1-p)/k+z*z/(4*k*k)))/(1+z*z/k))
}

// A ClosedSystem is a closed system: a number of customers, here goroutines, that
// begin the next operation when the last has ended. Its figures are averages
// over one window.
type ClosedSystem struct {
	Cores float64 // that the program may use: Ps, affinity and quota, whichever is least
	Busy  float64 // of those, in use without what the fix takes away
	// Whole is the time of the customers in the window, and Wait the part of it
	// that the fix takes away, in the same unit.
	Whole, Wait float64
	// Serial is the utilization, 0 to 1, of the busiest resource beside the
	// fixed one that serves one customer at a time; 0 when none is known.
	Serial float64
}

// Asymptotic returns the largest factor by which throughput can grow, at least
// 1: the least of the bounds of operational analysis (P. Denning and J. Buzen,
// Computing Surveys 1978), X' ≤ min(cores ÷ CPU per operation, N ÷ (R - wait),
// 1 ÷ demand of the next serial resource), each divided by the present X. byCPU
// and byTime are the first two, at least 1, infinite when nothing bounds.
func (c ClosedSystem) Asymptotic() (factor, byCPU, byTime float64) {
	byCPU, byTime = math.Inf(1), math.Inf(1)
	if c.Busy > 0 {
		byCPU = max(1, c.Cores/c.Busy)
	}
	if rest := c.Whole - c.Wait; rest > 0 && c.Whole > 0 {
		byTime = max(1, c.Whole/rest)
	}
	factor = min(byCPU, byTime)
	if c.Serial > 0 {
		factor = min(factor, 1/c.Serial)
	}
	return max(1, factor), byCPU, byTime
}

// GCModel returns the part of the CPU in use that is saved when the collector takes
// share of it and GOGC becomes factor times as large: share × (1 - 1 ÷ factor).
// The number of collections, and with it their cost, goes with 1 ÷ GOGC at the
// same allocation rate and live heap ("A Guide to the Go Garbage Collector",
// GOGC). Excess, at least 1, multiplies it where savings
// were seen to be larger; the result is never more than share.
func GCModel(share, factor, excess float64) float64 {
	share = min(max(share, 0), 1)
	if factor <= 1 {
		return 0
	}
	return share * min(1, (1-1/factor)*max(1, excess))
}
