package rules

import (
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

// What the operating system says of the process is common to several rules:
// its CPU time, the time that its control group was stopped, and how many
// cores it may use.

// A cpuUse is the CPU time of the process between two readings of its
// counters.
type cpuUse struct {
	user, system time.Duration
	window       time.Duration
}

func (u cpuUse) total() time.Duration { return u.user + u.system }

// cores is how many were busy with the process on average.
func (u cpuUse) cores() float64 { return div(u.total().Seconds(), u.window.Seconds()) }

// kernelShare is the part of the CPU time that the kernel took on the
// process's behalf.
func (u cpuUse) kernelShare() float64 { return div(u.system.Seconds(), u.total().Seconds()) }

// rusage is what the kernel counted for the process; ok is false when its
// counters were not read twice.
func rusage(m *model.Model) (u cpuUse, ok bool) {
	first, last, ok := m.Process.Window()
	if !ok {
		return cpuUse{}, false
	}
	return cpuUse{
		user: max(0, last.User-first.User), system: max(0, last.System-first.System), window: last.At - first.At,
	}, true
}

// cpuCores is the CPU that the process used, in cores, and who says so; 0 when
// nobody does.
func cpuCores(m *model.Model) (cores float64, source string) {
	if u, ok := rusage(m); ok {
		return u.cores(), "/proc: CPU time of the process"
	}
	if cores, _, ok := diagnosis.Busy(m); ok {
		return cores, "trace or CPU profile"
	}
	return 0, ""
}

// knownProcs is GOMAXPROCS where evidence tells it, else 0.
func knownProcs(m *model.Model) int {
	switch {
	case m.Run.Procs > 0:
		return m.Run.Procs
	case m.Sched != nil && len(m.Sched.Procs) > 0:
		return len(m.Sched.Procs)
	}
	if v, ok := m.Metrics.Last("/sched/gomaxprocs:threads"); ok && v >= 1 {
		return int(v)
	}
	if n := len(m.SchedLog); n > 0 {
		return m.SchedLog[n-1].Procs
	}
	return 0
}

// defaultPeriod is the kernel's length of a quota period, and what container
// runtimes set.
const defaultPeriod = 100 * time.Millisecond

// A throttle is how often the control group was stopped because its quota was
// used up.
type throttle struct {
	quota              float64
	window             time.Duration
	periods, throttled int64
	// stopped is the most that a thread can have stood still. The kernel adds
	// up over CPUs, so that two threads stopped together count twice: its sum
	// is cut off at the longest stop that each period can have had.
	stopped time.Duration
	usage   time.Duration
}

// throttling reads the counters of the process's control group; ok is false
// when they were not read twice.
func throttling(m *model.Model) (t throttle, ok bool) {
	first, last, ok := m.Limits.Window()
	if !ok {
		return throttle{}, false
	}
	t = throttle{
		quota: m.Limits.Quota, window: last.At - first.At, periods: last.Periods - first.Periods,
		throttled: last.Throttled - first.Throttled, usage: last.Usage - first.Usage,
	}
	t.stopped = min(last.ThrottledTime-first.ThrottledTime, time.Duration(t.throttled)*longestStop(m), t.window)
	t.stopped = max(0, t.stopped)
	return t, true
}

// longestStop is how long the group stands still in a period when all the CPUs
// that it may use were busy with it from the period's start.
func longestStop(m *model.Model) time.Duration {
	period, cpus := quotaPeriod(m.Limits), usableCPUs(m)
	if cpus == 0 || m.Limits.Quota >= float64(cpus) {
		return period
	}
	return time.Duration((1 - m.Limits.Quota/float64(cpus)) * float64(period))
}

// usableCPUs is how many CPUs can run the process's threads at once; 0 when
// unknown.
func usableCPUs(m *model.Model) (n int) {
	if m.Limits != nil {
		n = m.Limits.CPUs
	}
	if m.Machine != nil && m.Machine.CPUs > 0 && (n == 0 || m.Machine.CPUs < n) {
		n = m.Machine.CPUs
	}
	return n
}

func quotaPeriod(l *model.Limits) time.Duration {
	if l.Period <= 0 {
		return defaultPeriod
	}
	return l.Period
}

// share is the part of the window that was stopped, at most.
func (t throttle) share() float64 { return div(t.stopped.Seconds(), t.window.Seconds()) }

// often is the part of the periods in which the group was stopped. Periods in
// which it did not run are not counted by the kernel.
func (t throttle) often() float64 { return min(1, div(float64(t.throttled), float64(t.periods))) }

// mean is how long one stop lasted, at most.
func (t throttle) mean() time.Duration { return t.stopped / time.Duration(max(1, t.throttled)) }

// facts are what both rules about the quota rest on.
func (t throttle) facts() []fact.Fact {
	const source = "control group: cpu.stat"
	out := []fact.Fact{
		{Name: "CPU quota", Value: t.quota, Unit: fact.Cores, Source: "control group: limits"},
		{Name: "quota periods", Value: float64(t.periods), Unit: fact.Count, Source: source},
		{Name: "periods in which the quota was used up", Value: float64(t.throttled), Unit: fact.Count, Source: source},
		{Name: "stopped, at most", Value: t.stopped.Seconds(), Unit: fact.Seconds, Source: source + ", cut off at the longest stop that each of those periods can have had"},
	}
	if t.usage > 0 { // not counted where version 1 of control groups has it elsewhere
		out = append(out, fact.Fact{Name: "CPU used by the group", Value: div(t.usage.Seconds(), t.window.Seconds()), Unit: fact.Cores, Source: source})
	}
	return out
}

// operations is how many units of work the program did a second and what they
// are; 0 when nothing tells.
func operations(p *diagnosis.Pass) (perSecond float64, name string) {
	o := p.Model.Operations()
	if o == nil {
		return 0, ""
	}
	return o.PerSecond(p.Model.Run.Duration), o.Name
}

const (
	// mostSites is how many lines a finding about system calls names, and
	// siteShare the part of the whole that each must have: further ones are
	// somebody else's, like the recording's own.
	mostSites = 3
	siteShare = 0.1
)

// many writes a number of things: "1 core", "0.5 cores".
func many[N ~int | ~int64 | ~float64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return num(n) + " " + thing + "s"
}

// wholeCores is the largest number of Ps that n cores keep busy; at least 1.
func wholeCores(n float64) int { return max(1, int(math.Floor(n+1e-9))) }

// operationRate is how many units of work the program did a second, and what they
// are; 0 when nothing tells.
func operationRate(p *diagnosis.Pass) (rate fact.Fact, name fact.Name) {
	o := p.Model.Operations()
	if o == nil {
		return fact.Fact{}, ""
	}
	count := p.Statistic(fact.LoadResults, o.From, o.Name, o.Count, fact.Count).From(o.Source)
	return fact.Quotient.Of(o.Name+" a second", fact.PerSec, count, p.WindowLength()), fact.Name(o.Name)
}

// cpuUsed is the CPU that the process used, as the kernel counted it or else by
// [keptBusy]; false when nothing tells.
func cpuUsed(p *diagnosis.Pass, name string) (used fact.Fact, ok bool) {
	if _, ok := rusage(p.Model); ok {
		return p.Process(name, "cpu", fact.Rate), true
	}
	_, _, ok = diagnosis.Busy(p.Model)
	return keptBusy(p).Named(name), ok
}

// keptBusy is what [diagnosis.Busy] says of the cores in use.
func keptBusy(p *diagnosis.Pass) fact.Fact {
	if s := p.Model.Sched; s != nil && len(s.Procs) > 0 && p.Seconds() > 0 {
		return fact.Quotient.Of("Ps in use", fact.Cores, p.Processors("time of Ps in use", "user", "gc", "syscall", "scheduler"), p.WindowLength())
	}
	return p.CPUInUse()
}
