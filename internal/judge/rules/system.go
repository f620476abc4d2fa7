package rules

import (
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// What the operating system says of the process is common to several rules:
// its CPU time, the time that its control group was stopped, and how many
// cores it may use.

// processCPU is the CPU that the process used, by the kernel's count; ok is false
// when its counters were not read twice.
func processCPU(p *diagnosis.Pass) (used fact.Fact, ok bool) {
	_, _, ok = p.Model.Process.Window()
	return p.Process("CPU of the process", "cpu", fact.Rate), ok
}

// cpuSeconds is the same as a time.
func cpuSeconds(p *diagnosis.Pass) fact.Fact {
	return p.Process("CPU time of the process", "cpu", fact.Change)
}

// kernelPart is the part of the CPU time that the kernel took on the process's behalf.
func kernelPart(p *diagnosis.Pass) fact.Fact {
	return fact.Fraction.Of("share of CPU time in the kernel", fact.Ratio,
		p.Process("CPU time in the kernel", "system", fact.Change), cpuSeconds(p))
}

// defaultPeriod is the kernel's length of a quota period, and what container
// runtimes set.
const defaultPeriod = 100 * time.Millisecond

// A throttle is how often the control group was stopped because its quota was
// used up.
type throttle struct {
	quota, period, window, periods, throttled fact.Fact
	// stopped is the longest that a thread can have stood still, share the part of the window
	// that it is, often the part of the periods that ended in a stop, and mean how long one
	// stop lasted at most. Periods in which the group did not run are not counted by the
	// kernel.
	stopped, share, often, mean fact.Fact
	usage                       fact.Fact // CPU of the group; nothing where version 1 of control groups has it elsewhere
}

// throttling reads the counters of the process's control group; ok is false
// when they were not read twice.
func throttling(p *diagnosis.Pass) (t throttle, ok bool) {
	if _, _, ok := p.Model.Limits.Window(); !ok {
		return throttle{}, false
	}
	t.quota, t.period = cpuQuota(p), quotaPeriod(p)
	t.window = p.ControlGroup("time between readings of the control group", "time", fact.Change)
	t.periods = p.ControlGroup("quota periods", "periods", fact.Change)
	t.throttled = p.ControlGroup("periods in which the quota was used up", "throttled", fact.Change)
	t.usage = p.ControlGroup("CPU used by the group", "usage", fact.Rate)
	t.stopped = stoppedAtMost.Of("stopped, at most", fact.Seconds,
		p.ControlGroup("throttled time, added up over CPUs", "throttled_time", fact.Change), t.throttled,
		longestStop.Of("longest stop in a period", fact.Seconds, t.period, t.quota, usableCPUs(p)), t.window)
	t.share = fact.Quotient.Of("part of the window in which threads that wanted to run were stopped, at "+
		"most", fact.Ratio, t.stopped, t.window)
	t.often = fact.Fraction.Of("part of the periods that ended in a stop", fact.Ratio, t.throttled, t.periods)
	t.mean = fact.Quotient.Of("one stop, at most", fact.Seconds, t.stopped, t.throttled)
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

// cpuQuota measures what the control group allows.
func cpuQuota(p *diagnosis.Pass) fact.Fact {
	return p.Setting("CPU quota", "quota of the control group", p.Model.Limits.Quota, fact.Cores)
}

func quotaPeriod(p *diagnosis.Pass) fact.Fact {
	period := p.Model.Limits.Period
	if period <= 0 {
		period = defaultPeriod
	}
	return p.Setting("quota period", "period of the control group's quota", period.Seconds(), fact.Seconds)
}

// usableCPUs returns how many CPUs can run the process's threads at once; 0 when unknown.
func usableCPUs(p *diagnosis.Pass) fact.Fact {
	m, n := p.Model, 0
	if m.Limits != nil {
		n = m.Limits.CPUs
	}
	if m.Machine != nil && m.Machine.CPUs > 0 && (n == 0 || m.Machine.CPUs < n) {
		n = m.Machine.CPUs
	}
	return p.Setting("CPUs that can run it", "affinity and CPUs online", float64(n), fact.Count)
}

// allowedCores is the cores that limits and the machine allow; 0 when unknown.
func allowedCores(p *diagnosis.Pass) fact.Fact {
	return p.Setting("cores that the process may use", "affinity, quota and CPUs online", p.Model.Usable(), fact.Cores)
}

// bound computes what the stops add to a request.
func (t *throttle) bound(more string) diagnosis.Bound {
	return diagnosis.Limit(t.mean, diagnosis.Latency, t.share.Value, "between nothing and this, for a request that falls into a stop"+more)
}

// facts returns the facts that both rules about the quota rest on.
func (t *throttle) facts() []fact.Fact {
	out := []fact.Fact{t.quota, t.periods, t.throttled, t.stopped}
	if t.usage.Value > 0 {
		out = append(out, t.usage)
	}
	return out
}

const ()
