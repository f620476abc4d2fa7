package trial

import (
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// What a guarded metric may become worse by in its own unit, whatever ratio that is.
const (
	// leastMemory is twice the 4 MiB up to which Go lets the smallest heap grow: one
	// collection that comes a little later costs as much. leastMemoryShare is what a
	// thousand programs would have of the machine, or of the limit, each: a larger
	// part is needed before it decides whether anything fits. What is more than
	// mostLeastMemory is paid for on the largest machine, too.
	leastMemory      = 8 << 20
	leastMemoryShare = 0.001
	mostLeastMemory  = 64 << 20
	// leastLatency is about what waking a sleeping thread and sending an answer through
	// the loopback vary by on a machine that does something else too.
	leastLatency = 100 * time.Microsecond
	// leastElapsed is about what starting and ending a Go program takes.
	leastElapsed = time.Millisecond
)

// LimitOf guards a metric: it may become worse by a share, and by what is too little
// to matter in any case. What is counted, rates and CPU time per operation have no such
// least: an operation may be anything.
func LimitOf(m diagnosis.Metric, share float64) experiment.Guard {
	return guardOn(subject.Memory(), m, share)
}

func guardOn(memory uint64, m diagnosis.Metric, share float64) experiment.Guard {
	g := experiment.Guard{Metric: m, Limit: share}
	switch m {
	case diagnosis.PeakRSS, diagnosis.LiveHeap:
		g.Least = min(max(leastMemory, leastMemoryShare*float64(memory)), mostLeastMemory)
	case diagnosis.P50, diagnosis.P99:
		g.Least = leastLatency.Seconds()
	case diagnosis.Elapsed:
		g.Least = leastElapsed.Seconds()
	}
	return g
}
