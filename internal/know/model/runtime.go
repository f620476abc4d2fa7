package model

import "time"

// A Point is a value at one moment.
type Point struct {
	At    time.Duration
	Value float64
}

// A Series is a quantity over time, in time order.
type Series []Point

// Metrics are the runtime's own, in runtime/metrics' spelling and units.
type Metrics struct {
	// Series are scalars over time. Cumulative ones count since the program's start.
	Series map[string]Series
	// Histograms are what was counted between the first and the last sample.
	Histograms map[string]MetricHistogram
}

// A MetricHistogram is a histogram of runtime/metrics: Counts[i] values were
// in [Bounds[i], Bounds[i+1]). The outermost bounds may be infinite.
type MetricHistogram struct {
	Bounds []float64
	Counts []uint64
}

// A GCLine is one collection as GODEBUG=gctrace=1 tells it.
type GCLine struct {
	Cycle int
	// At is when it ended since the window's start. When Aligned is false the
	// line's own clock, which begins at the program's start, could not be
	// brought to the window's, and At is by that clock.
	At      time.Duration
	Aligned bool
	Share   float64 // CPU of the collector since the program's start, 0 to 1, in whole percents
	// Wall and CPU are of the phases: sweep termination, concurrent mark,
	// mark termination. CPU's mark is assists + dedicated and fractional + idle.
	SweepTerm, Mark, MarkTerm         time.Duration
	CPUSweepTerm, CPUMarkTerm         time.Duration
	CPUAssist, CPUBackground, CPUIdle time.Duration
	Before, After, Live, Goal         uint64 // heap in bytes, in whole MB
	StackScan, Globals                uint64 // bytes; 0 before Go 1.18
	Procs                             int
	Forced                            bool
	// Elided is set of a line of which somebody left a part out: what is not there is 0.
	Elided bool
}

// A SchedLine is one line of GODEBUG=schedtrace.
type SchedLine struct {
	At                                    time.Duration // as in GCLine
	Aligned                               bool
	Procs, IdleProcs                      int // the latter, and those below, -1 where the line does not tell
	Threads, SpinningThreads, IdleThreads int
	NeedSpinning                          int     // -1 before Go 1.20
	RunQueue                              int     // global
	Local                                 []int   // run queue of each P
	Ticks                                 []int64 // schedticks of each P; nil before Go 1.25
	// Goroutines is how many did what, by the reason of their wait or their status, of
	// scheddetail; nil without.
	Goroutines map[string]int
}

// Queued returns how many goroutines were ready and waited for a P.
func (l *SchedLine) Queued() int {
	n := max(0, l.RunQueue)
	for _, q := range l.Local {
		n += q
	}
	return n
}
