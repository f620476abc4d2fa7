package model

import (
	"slices"
	"time"
)

// An Axis is the time that one kind of thing had in the window, and what it
// was spent on. Axes of different things are comparable because they cover
// the same window: what the machine's other processes took shows on the
// machine's, not on the program's.
type Axis struct {
	Name   string        // Ps, threads, machine, control group
	What   string        // what the total is, in words
	Window time.Duration // over which it was measured
	Total  time.Duration // the sum of Parts
	Parts  []AxisPart
	// Beside are times that overlap the parts or each other.
	Beside []AxisPart
}

// An AxisPart is one use of the time.
type AxisPart struct {
	Name string
	Time time.Duration
}

// Axes returns the axes that there is evidence for, the program's own first.
func (m *Model) Axes() (axes []Axis) {
	for _, of := range []func() (Axis, bool){m.procAxis, m.threadAxis, m.machineAxis, m.groupAxis} {
		if a, ok := of(); ok {
			for _, p := range a.Parts {
				a.Total += p.Time
			}
			axes = append(axes, a)
		}
	}
	return axes
}

func (m *Model) procAxis() (Axis, bool) {
	if m.Sched == nil || len(m.Sched.Procs) == 0 {
		return Axis{}, false
	}
	p := m.Sched.ProcSeconds()
	return Axis{Name: "Ps", What: "GOMAXPROCS × window", Window: m.Run.Duration, Parts: []AxisPart{
		{"user code", p.User}, {"garbage collector", p.GC}, {"garbage collector in idle time", p.GCIdle},
		{"system calls", p.Syscall}, {"scheduler", p.Scheduler}, {"idle", p.Idle}, {"unknown", p.Unknown},
	}}, true
}

func (m *Model) threadAxis() (Axis, bool) {
	first, last, ok := m.Process.Window()
	if !ok {
		return Axis{}, false
	}
	a := Axis{Name: "threads", What: "time in which threads ran or wanted to", Window: last.At - first.At, Parts: []AxisPart{
		{"on a CPU, user mode", max(0, last.User-first.User)}, {"on a CPU, in the kernel", max(0, last.System-first.System)},
	}}
	if last.RunQueue > 0 { // else the kernel does not count it
		a.Parts = append(a.Parts, AxisPart{"waiting for a CPU", m.Process.waited()})
	}
	return a, true
}

func (m *Model) machineAxis() (Axis, bool) {
	first, last, ok := m.Machine.Window()
	if !ok {
		return Axis{}, false
	}
	n, _ := m.Neighbours()
	a := Axis{Name: "machine", What: "CPUs × window", Window: last.At - first.At, Parts: []AxisPart{
		{"this process", n.Own}, {"other processes", n.Others}, {"taken by the hypervisor", n.Steal},
		{"waiting for a disk", max(0, last.IOWait-first.IOWait)}, {"idle", max(0, last.Idle-first.Idle)},
	}}
	if left := max(0, last.Busy-first.Busy) - n.Own - n.Others; left > 0 {
		a.Parts = slices.Insert(a.Parts, 2, AxisPart{"the recorder", left})
	}
	for _, s := range []struct {
		name          string
		before, after time.Duration
	}{
		{"some task waited for a CPU", first.CPUStall, last.CPUStall},
		{"some task waited for memory", first.MemoryStall, last.MemoryStall},
		{"some task waited for a disk", first.IOStall, last.IOStall},
	} {
		if s.before >= 0 && s.after >= s.before {
			a.Beside = append(a.Beside, AxisPart{s.name, s.after - s.before})
		}
	}
	return a, true
}

func (m *Model) groupAxis() (Axis, bool) {
	first, last, ok := m.Limits.Window()
	if !ok || m.Limits.Quota <= 0 || last.Usage <= 0 { // its CPU may be counted nowhere
		return Axis{}, false
	}
	w := last.At - first.At
	stopped := min(max(0, last.ThrottledTime-first.ThrottledTime), w)
	used := max(0, last.Usage-first.Usage)
	allowed := time.Duration(m.Limits.Quota * float64(w))
	a := Axis{Name: "control group", What: "quota × window", Window: w, Parts: []AxisPart{
		{"used", used}, {"not used", max(0, allowed-used)},
	}}
	a.Beside = []AxisPart{{"stopped by the quota", stopped}}
	return a, true
}

// Neighbours is what this process and others had of the machine's CPUs.
type Neighbours struct {
	Window             time.Duration
	Own, Others, Steal time.Duration
	Capacity           time.Duration // CPUs × window
	// Waited is how long threads of this process were ready without a CPU,
	// by the kernel's count.
	Waited time.Duration
	// Full is the part of the window in which less than a tenth of the machine
	// was idle, with what was had and waited for in it. At other times the
	// machine has CPU to give: threads wait for their turn and to be woken, and
	// run all the same.
	Full                            time.Duration
	FullOwn, FullOthers, FullWaited time.Duration
}

// fullIdle is the idle part of the machine below which it counts as full. One
// that is full by all means shows 1 to 3%, for its counters tick every 10 ms
// and a CPU may finish one thing before it begins the next.
const fullIdle = 0.1

// Neighbours returns who had the machine's CPUs; false when its counters were
// not read twice. Without the process's own counters Own is 0 and Others
// everything. What the recorder used is nobody's: it ends with the recording.
func (m *Model) Neighbours() (n Neighbours, ok bool) {
	first, last, ok := m.Machine.Window()
	if !ok {
		return n, false
	}
	n.Window = last.At - first.At
	n.Steal = max(0, last.Steal-first.Steal)
	n.Capacity = capacity(first, last)
	n.Own, n.Others = m.cpuSplit(first, last)
	n.Waited = m.Process.waited()
	waits := m.Process.Series(func(s ProcessSample) float64 { return float64(s.RunQueue) })
	from := first
	for i, to := range m.Machine.Samples[1:] {
		if i+2 < len(m.Machine.Samples) && to.At-from.At < fullSpan {
			continue
		}
		if m.full(from, to) {
			n.Full += to.At - from.At
			own, others := m.cpuSplit(from, to)
			n.FullOwn, n.FullOthers = n.FullOwn+own, n.FullOthers+others
			if len(waits) > 0 {
				n.FullWaited += time.Duration(max(0, waits.At(to.At)-waits.At(from.At)))
			}
		}
		from = to
	}
	return n, true
}

// waited returns how long threads were ready and had no CPU, from the first sample to the
// last. The counter is of the threads that live: where some have ended it falls, most of all
// when the whole process ends.
func (p *Process) waited() (d time.Duration) {
	if p == nil {
		return 0
	}
	for i := 1; i < len(p.Samples); i++ {
		d += max(0, p.Samples[i].RunQueue-p.Samples[i-1].RunQueue)
	}
	return d
}

// fullSpan is the shortest time that is judged to be full or not: ten ticks.
const fullSpan = 100 * time.Millisecond

// full reports whether the machine was. For a process that may use
// some of the CPUs only, nothing tells how busy those were: it is taken for so.
func (m *Model) full(from, to MachineSample) bool {
	if m.Limits != nil && m.Limits.CPUs > 0 && m.Limits.CPUs < m.Machine.CPUs {
		return true
	}
	idle := max(0, to.Idle-from.Idle) + max(0, to.IOWait-from.IOWait)
	return idle.Seconds() <= fullIdle*capacity(from, to).Seconds()
}

// capacity is CPUs × time, by the counters' own sum.
func capacity(from, to MachineSample) time.Duration {
	return max(0, to.Busy-from.Busy) + max(0, to.Steal-from.Steal) + max(0, to.Idle-from.Idle) + max(0, to.IOWait-from.IOWait)
}

// cpuSplit returns the CPU that the process and others had between two moments.
func (m *Model) cpuSplit(from, to MachineSample) (own, others time.Duration) {
	busy := max(0, to.Busy-from.Busy)
	u0, s0 := m.Process.CPUAt(from.At)
	u1, s1 := m.Process.CPUAt(to.At)
	own = min(max(0, u1+s1-u0-s0), busy)
	return own, max(0, busy-own-m.recorder(to.At-from.At))
}

// recorder returns the recorder's part of a stretch of the run, taken for even.
func (m *Model) recorder(of time.Duration) time.Duration {
	if m.Run.Overhead == nil || m.Run.Duration <= 0 {
		return 0
	}
	return time.Duration(m.Run.Overhead.Recorder.Seconds() * min(1, of.Seconds()/m.Run.Duration.Seconds()) * float64(time.Second))
}
