package record

import (
	"math"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// A RuntimeLimit reads how near a Go program's memory is to its GOMEMLIMIT, wherever that was set:
// in its environment, or by debug.SetMemoryLimit. The runtime's counters are read out of the
// program's memory, in 20 to 40 µs. It is for one goroutine at a time; nil has no limit.
type RuntimeLimit struct{ gauge *goroutines.Gauge }

// OpenRuntimeLimit begins, in 1 to 6 ms of CPU time, the more the larger the program. The error is
// that of [goroutines.Open].
func OpenRuntimeLimit(pid int) (*RuntimeLimit, error) {
	r, err := goroutines.Open(pid)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return newRuntimeLimit(r)
}

// newRuntimeLimit begins in a memory that somebody has open.
func newRuntimeLimit(m Memory) (*RuntimeLimit, error) {
	g, err := m.Gauge()
	if err != nil {
		return nil, err
	}
	return &RuntimeLimit{g}, nil
}

// Close lets go of the program's memory.
func (l *RuntimeLimit) Close() {
	if l != nil {
		l.gauge.Close()
	}
}

// Gone reports whether the program has ended or executed another: then there is no limit any more, and who
// wants that of the other opens it anew.
func (l *RuntimeLimit) Gone() bool { return l != nil && l.gauge.Gone() }

// Bound returns GOMEMLIMIT, and what of it no collection can free: a program whose heap
// grows up to the limit and is then collected uses all of it and is well. It reports false
// without a limit, and where the counters cannot be read.
func (l *RuntimeLimit) Bound() (b proc.MemoryBound, ok bool) {
	if l == nil {
		return b, false
	}
	c := l.gauge.Read()
	if c.MemoryLimit <= 0 || c.MemoryLimit > math.MaxInt64/2 || c.Mapped < 0 {
		return b, false
	}
	used := c.Mapped
	if used >= c.MemoryLimit/2 {
		u, known := l.gauge.Usage()
		if !known || c.HeapMarked < 0 {
			return b, false
		}
		used -= min(used, u.Free+u.Unused+max(0, u.Objects-c.HeapMarked))
	}
	return proc.MemoryBound{Of: "GOMEMLIMIT", Limit: uint64(c.MemoryLimit), Used: uint64(used)}, true
}
