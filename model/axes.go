package model

import "time"

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
	return Axis{Name: "threads", What: "time in which threads ran or wanted to", Window: last.At - first.At, Parts: []AxisPart{
		{"on a CPU, user mode", max(0, last.User-first.User)}, {"on a CPU, in the kernel", max(0, last.System-first.System)},
		// Threads that ended took their part of the sum with them.
		{"waiting for a CPU", max(0, last.RunQueue-first.RunQueue)},
	}}, true
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
	if !ok || m.Limits.Quota <= 0 {
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
}

// Neighbours returns who had the machine's CPUs; false when its counters were
// not read twice. Without the process's own counters Own is 0 and Others
// everything.
func (m *Model) Neighbours() (n Neighbours, ok bool) {
	first, last, ok := m.Machine.Window()
	if !ok {
		return n, false
	}
	u0, s0 := m.Process.CPUAt(first.At)
	u1, s1 := m.Process.CPUAt(last.At)
	busy := max(0, last.Busy-first.Busy)
	n.Window = last.At - first.At
	n.Own = min(max(0, u1+s1-u0-s0), busy)
	n.Others = busy - n.Own
	n.Steal = max(0, last.Steal-first.Steal)
	n.Capacity = busy + n.Steal + max(0, last.Idle-first.Idle) + max(0, last.IOWait-first.IOWait)
	if f, l, ok := m.Process.Window(); ok {
		n.Waited = max(0, l.RunQueue-f.RunQueue)
	}
	return n, true
}
