package fact

import (
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A Disturbance is a way in which a recording can show another number than the
// program alone would. They are a set.
type Disturbance uint8

const (
	// Starvation is that threads waited for a CPU that others had. It stretches
	// times and leaves counts, sizes, stacks and shares of samples alone.
	Starvation Disturbance = 1 << iota
	// Loss is that a part of the trace is missing.
	Loss
	// Uncovered is that samples show a part of the CPU time only, and may be of
	// another mix than the rest.
	Uncovered
)

// DisturbedBy returns what can change the number, or one that it was computed from.
func (f *Fact) DisturbedBy() (d Disturbance) {
	for i := range f.Operands {
		d |= f.Operands[i].DisturbedBy()
	}
	if f.Origin.Source == model.Trace {
		d |= Loss
	}
	return d | f.Origin.disturbedBy(f.Unit)
}

func (o *Origin) disturbedBy(u Unit) Disturbance {
	switch o.Kind {
	case Samples:
		switch o.Source {
		case model.CPU, model.KernelCPU:
			return Uncovered
		case model.Block, model.Mutex:
			return o.ofTime(u)
		}
	case Account:
		if !slices.Equal(o.Columns, []string{"in use"}) { // which the kernel counted
			return Uncovered
		}
	case Processors, Timeline, Machine:
		return Starvation
	case Process:
		if o.Name == "run_queue" {
			return Starvation
		}
	case Waits, Goroutines, LoadResults, Collector, Metric, Syscalls:
		return o.ofTime(u)
	}
	return 0
}

// ofTime returns what disturbs kinds that count and measure time, too.
func (o *Origin) ofTime(u Unit) Disturbance {
	if u == Seconds || o.Share {
		return Starvation
	}
	return 0
}
