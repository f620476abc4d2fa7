package cpu

import (
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// What the operating system says of the process is common to several rules:
// its CPU time, the time that its control group was stopped, and how many
// cores it may use.

// ProcessCPU returns the CPU that the process used, by the kernel's count; ok is false
// when its counters were not read twice.
func ProcessCPU(p *diagnosis.Pass) (used fact.Fact, ok bool) {
	_, _, ok = p.Model.Process.Window()
	return p.Process("CPU of the process", "cpu", fact.Rate), ok
}

// TimeOfProcess returns the same as a time.
func TimeOfProcess(p *diagnosis.Pass) fact.Fact {
	return p.Process("CPU time of the process", "cpu", fact.Change)
}

// KernelCPU returns the part of the CPU time that the kernel took on the process's behalf.
func KernelCPU(p *diagnosis.Pass) fact.Fact {
	return fact.Fraction.Of("share of CPU time in the kernel", fact.Ratio,
		p.Process("CPU time in the kernel", "system", fact.Change), TimeOfProcess(p))
}

// defaultPeriod is the kernel's length of a quota period, and what container
// runtimes set.
const defaultPeriod = 100 * time.Millisecond

// A Throttle is how often the control group was stopped because its quota was
// used up.
type Throttle struct {
	Quota, Period, Window, Periods, Throttled fact.Fact
	// stopped is the longest that a thread can have stood still, share the part of the window
	// that it is, often the part of the periods that ended in a stop, and mean how long one
	// stop lasted at most. Periods in which the group did not run are not counted by the
	// kernel.
	stopped, Share, Often, Mean fact.Fact
	Usage                       fact.Fact // CPU of the group; nothing where version 1 of control groups has it elsewhere
}

// Throttling reads the counters of the process's control group; ok is false
// when they were not read twice.
func Throttling(p *diagnosis.Pass) (t Throttle, ok bool) {
	if _, _, ok := p.Model.Limits.Window(); !ok {
		return Throttle{}, false
	}
	t.Quota, t.Period = Quota(p), quotaPeriod(p)
	t.Window = p.ControlGroup("time between readings of the control group", "time", fact.Change)
	t.Periods = p.ControlGroup("quota periods", "periods", fact.Change)
	t.Throttled = p.ControlGroup("periods in which the quota was used up", "throttled", fact.Change)
	t.Usage = p.ControlGroup("CPU used by the group", "usage", fact.Rate)
	t.stopped = stoppedAtMost.Of("stopped, at most", fact.Seconds,
		p.ControlGroup("throttled time, added up over CPUs", "throttled_time", fact.Change), t.Throttled,
		longestStop.Of("longest stop in a period", fact.Seconds, t.Period, t.Quota, UsableCPUs(p)), t.Window)
	t.Share = fact.Quotient.Of("part of the window in which threads that wanted to run were stopped, at "+
		"most", fact.Ratio, t.stopped, t.Window)
	t.Often = fact.Fraction.Of("part of the periods that ended in a stop", fact.Ratio, t.Throttled, t.Periods)
	t.Mean = fact.Quotient.Of("one stop, at most", fact.Seconds, t.stopped, t.Throttled)
	return t, true
}

// stoppedAtMost is the longest that a thread can have stood still. The kernel adds up over
// CPUs, so that two threads stopped together count twice: its sum is cut off at the longest
// stop that each period can have had, and at the window.
var stoppedAtMost = &fact.Formula{Name: "stopped at most", Words: "{0}, cut off at {1} × {2}, and at {3}",
	Value: func(x []float64) float64 { return max(0, min(x[0], x[1]*x[2], x[3])) }}

// longestStop is how long the group stands still in a period when all the CPUs
// that it may use were busy with it from the period's start.
var longestStop = &fact.Formula{Name: "longest stop", Words: "{0} × (1 − {1} ÷ {2})",
	Value: func(x []float64) float64 {
		if x[2] == 0 || x[1] >= x[2] {
			return x[0]
		}
		return (1 - x[1]/x[2]) * x[0]
	}}

// Quota measures what the control group allows.
func Quota(p *diagnosis.Pass) fact.Fact {
	return p.Setting("CPU quota", "quota of the control group", p.Model.Limits.Quota, fact.Cores)
}

func quotaPeriod(p *diagnosis.Pass) fact.Fact {
	period := p.Model.Limits.Period
	if period <= 0 {
		period = defaultPeriod
	}
	return p.Setting("quota period", "period of the control group's quota", period.Seconds(), fact.Seconds)
}

// UsableCPUs returns how many CPUs can run the process's threads at once; 0 when unknown.
func UsableCPUs(p *diagnosis.Pass) fact.Fact {
	m, n := p.Model, 0
	if m.Limits != nil {
		n = m.Limits.CPUs
	}
	if m.Machine != nil && m.Machine.CPUs > 0 && (n == 0 || m.Machine.CPUs < n) {
		n = m.Machine.CPUs
	}
	return p.Setting("CPUs that can run it", "affinity and CPUs online", float64(n), fact.Count)
}

// AllowedCores returns the cores that limits and the machine allow; 0 when unknown.
func AllowedCores(p *diagnosis.Pass) fact.Fact {
	return p.Setting("cores that the process may use", "affinity, quota and CPUs online", p.Model.Usable(), fact.Cores)
}

// Bound computes what the stops add to a request.
func (t *Throttle) Bound(more string) diagnosis.Bound {
	return diagnosis.Limit(t.Mean, diagnosis.Latency, t.Share.Value, "between nothing and this, for a request that falls into a stop"+more)
}

// Facts returns the facts that both rules about the quota rest on.
func (t *Throttle) Facts() []fact.Fact {
	out := []fact.Fact{t.Quota, t.Periods, t.Throttled, t.stopped}
	if t.Usage.Value > 0 {
		out = append(out, t.Usage)
	}
	return out
}

const ()
