package model

import (
	"slices"
	"strings"
	"time"
)

// Operations says how many units of work the program did in the window, from
// the best evidence there is: what a load generator counted, the program's own
// tasks, or the goroutines that a server started for each packet or
// connection it took. nil when nothing tells.
func (m *Model) Operations() *Operations {
	for _, from := range []func() *Operations{m.loadOperations, m.taskOperations, m.servedOperations} {
		if o := from(); o != nil {
			return o
		}
	}
	return nil
}

// PerSecond returns the rate of operations over a window of that length; 0 when
// the length is not known.
func (o *Operations) PerSecond(window time.Duration) float64 {
	if o == nil || window <= 0 {
		return 0
	}
	return o.Count / window.Seconds()
}

// CPUPerOperation returns the CPU time that one unit of work takes; 0 when nothing tells.
func (m *Model) CPUPerOperation() time.Duration {
	a := m.CPUAccount()
	if a == nil || a.Window <= 0 {
		return 0
	}
	return time.Duration(m.operationTime() * a.Total.Seconds() / a.Window.Seconds())
}

// OperationShare returns the part of what was counted in the window that one unit of work has; 0
// when nothing tells.
func (m *Model) OperationShare(counted float64) float64 {
	if m.Run.Duration <= 0 {
		return 0
	}
	return counted * m.operationTime() / float64(m.Run.Duration)
}

// operationTime returns the time from one unit of work to the next, in nanoseconds: of the one
// benchmark that ran, or of the operations.
func (m *Model) operationTime() (each float64) {
	if m.Load != nil && len(m.Load.Benchmarks) > 0 {
		first := &m.Load.Benchmarks[0]
		for _, b := range m.Load.Benchmarks {
			if b.Name != first.Name || b.Package != first.Package {
				return 0
			}
			each += b.Values["ns/op"] / float64(len(m.Load.Benchmarks))
		}
	} else if o := m.Operations(); o != nil && o.Count > 0 {
		each = float64(m.Run.Duration) / o.Count
	}
	return each
}

// loadOperations returns those of the load generator that fall into the window:
// by its own intervals where it has some, else evenly spread. One that does
// not say when it ran is taken to have run all the time, or inside the window if it
// was shorter: no more than it did can fall into it.
func (m *Model) loadOperations() *Operations {
	l, window := m.Load, m.Run.Duration
	if l == nil || window <= 0 || l.Ops <= 0 {
		return nil
	}
	answered := float64(l.Ops-l.Unanswered) / float64(l.Ops)
	o := &Operations{Name: "operations", Source: LoadResult, From: l.Tool}
	switch {
	case l.Known && len(l.Over) > 0:
		for _, i := range l.Over {
			if i.Width > 0 {
				o.Count += float64(i.Ops) * overlap(i.At, i.Width, window) / i.Width.Seconds()
			}
		}
	case l.Known && l.Duration > 0:
		o.Count = float64(l.Ops) * overlap(l.Start, l.Duration, window) / l.Duration.Seconds()
	case l.Rate > 0:
		o.Count = min(l.Rate*window.Seconds(), float64(l.Ops))
		o.From += ", at its mean rate"
	case l.Duration > 0:
		o.Count = float64(l.Ops) * min(1, window.Seconds()/l.Duration.Seconds())
		o.From += ", at its mean rate"
	}
	if o.Count *= answered; o.Count <= 0 {
		return nil
	}
	return o
}

// LoadElsewhere reports whether a load test has operations, and the window none of them:
// it ran at other times, or nothing of it was answered.
func (m *Model) LoadElsewhere() (elsewhere, unanswered bool) {
	l := m.Load
	if l == nil || l.Ops == 0 || m.Run.Duration <= 0 || m.loadOperations() != nil {
		return false, false
	}
	return l.Known && l.Unanswered < l.Ops, l.Unanswered == l.Ops
}

// overlap returns how many seconds of a stretch lie inside the window.
func overlap(at, width, window time.Duration) float64 {
	return max(0, min(at+width, window)-max(at, 0)).Seconds()
}

// taskOperations returns the user tasks of the type that ended most often, parts
// of other tasks left aside.
func (m *Model) taskOperations() *Operations {
	if m.Tasks == nil {
		return nil
	}
	part := map[string]bool{}
	for _, t := range m.Tasks.Slow {
		if t.Parent != 0 {
			part[t.Name] = true
		}
	}
	var best *TaskType
	for i := range m.Tasks.Tasks {
		t := &m.Tasks.Tasks[i]
		if t.Complete > 0 && !part[t.Name] && (best == nil || t.Complete > best.Complete) {
			best = t
		}
	}
	if best == nil {
		return nil
	}
	return &Operations{Count: float64(best.Complete), Name: best.Name, Source: Trace, From: "user tasks ended"}
}

const (
	// servedLeast is how many goroutines of a server must have ended to be
	// taken for its operations: fewer may be anything.
	servedLeast = 100
	// servedWaits is how often on average one may wait for the network and
	// still be one operation. One that waits more often reads request after
	// request from its connection.
	servedWaits = 2
	// fromServed is what [Operations] says of them.
	fromServed = "server goroutines ended"
)

// servedOperations are goroutines ended of a group that a loop around accept
// or read starts. A connection that carries many requests is not one: neither
// net/http's nor any whose goroutines wait for the network again and again.
func (m *Model) servedOperations() *Operations {
	if m.Sched == nil {
		return nil
	}
	var best *Group
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if g.System || g.Ended < servedLeast || best != nil && g.Ended <= best.Ended || strings.HasPrefix(g.Name, "net/http.") || !m.servesNetwork(g) {
			continue
		}
		waits, _ := m.Sched.WaitTime(WaitFilter{Kind: Net, Group: &g.Name})
		if float64(waits) <= servedWaits*float64(g.Ended) {
			best = g
		}
	}
	if best == nil {
		return nil
	}
	return &Operations{Count: float64(best.Ended), Name: best.Name, Source: Trace, From: fromServed}
}

// servesNetwork reports whether the code that starts a group's goroutines waits for
// the network itself.
func (m *Model) servesNetwork(g *Group) bool {
	creator := ""
	for _, f := range m.Stacks.Frames(g.Creator) {
		if pkg, _ := splitFunc(f.Func); !isRuntime(pkg) {
			creator = f.Func
			break
		}
	}
	if creator == "" {
		return false
	}
	for w := range m.Sched.WaitsBy(WaitFilter{Kind: Net}) {
		if w.Group != g.Name && slices.ContainsFunc(m.Stacks.Frames(w.Stack), func(f Frame) bool { return f.Func == creator }) {
			return true
		}
	}
	return false
}

// A PerOperation is a quantity of one operation.
type PerOperation struct {
	Resource Resource
	Part     string // of the CPU time, or a system call's name; "" for all of it
	Value    float64
	Unit     string // seconds, bytes, count
	Source   Source
}

// Name returns the name for readers.
func (p PerOperation) Name() string {
	if p.Part == "" {
		return string(p.Resource)
	}
	return string(p.Resource) + ": " + p.Part
}

// A Resource is what operations use up.
type Resource string

// The resources.
const (
	CPUTime             Resource = "CPU"
	SystemCalls         Resource = "system calls"
	AllocatedBytes      Resource = "allocated bytes"
	AllocatedObjects    Resource = "allocated objects"
	VoluntarySwitches   Resource = "context switches, voluntary"
	InvoluntarySwitches Resource = "context switches, involuntary"
	ReadCalls           Resource = "calls that read"
	WriteCalls          Resource = "calls that write"
	PageFaults          Resource = "page faults"
	GoroutinesCreated   Resource = "goroutines created"
)

// PerOperation divides what the program used by the operations it did; empty
// when those are not known. Sources cover different pieces of the window, so
// every quantity is a rate by a rate.
func (m *Model) PerOperation() (list []PerOperation) {
	rate := m.Operations().PerSecond(m.Run.Duration)
	if rate <= 0 {
		return nil
	}
	add := func(of Resource, part string, perSecond float64, unit string, s Source) {
		list = append(list, PerOperation{of, part, perSecond / rate, unit, s})
	}
	if a := m.CPUAccount(); a != nil && a.Window > 0 {
		source := ProcFS
		if !a.Known {
			source = a.Believed
		}
		add(CPUTime, "", perSecond(a.Total.Seconds(), a.Window), "seconds", source)
		for _, e := range a.Parts {
			add(CPUTime, string(e.Part), perSecond(e.Time.Seconds(), a.Window), "seconds", a.Believed)
		}
	}
	if s := m.Syscalls; s != nil && s.Window > 0 {
		var all int64
		for _, c := range s.Calls {
			all += c.Count
		}
		add(SystemCalls, "", perSecond(float64(all), s.Window), "count", SyscallLog)
		for _, c := range s.Calls[:min(len(s.Calls), 8)] {
			add(SystemCalls, c.Name, perSecond(float64(c.Count), s.Window), "count", SyscallLog)
		}
	}
	if b, o, from := m.allocRate(); from != "" {
		source := map[string]Source{"runtime/metrics": MetricsLog, "allocs profile": Heap}[from]
		if source == "" {
			source = Trace
		}
		add(AllocatedBytes, "", b, "bytes", source)
		if o > 0 {
			add(AllocatedObjects, "", o, "count", source)
		}
	}
	for _, c := range []struct {
		resource Resource
		of       func(ProcessSample) int64
	}{
		{VoluntarySwitches, func(s ProcessSample) int64 { return s.Voluntary }},
		{InvoluntarySwitches, func(s ProcessSample) int64 { return s.Involuntary }},
		{ReadCalls, func(s ProcessSample) int64 { return s.ReadCalls }},
		{WriteCalls, func(s ProcessSample) int64 { return s.WriteCalls }},
		{PageFaults, func(s ProcessSample) int64 { return s.MinorFaults + s.MajorFaults }},
	} {
		if r, ok := m.Process.Rate(c.of); ok {
			add(c.resource, "", max(0, r), "count", ProcFS)
		}
	}
	if m.Sched != nil {
		created := 0
		for i := range m.Sched.Groups {
			created += m.Sched.Groups[i].Created
		}
		add(GoroutinesCreated, "", perSecond(float64(created), m.Run.Duration), "count", Trace)
	}
	return list
}

// perSecond returns a count of a stretch as a rate; 0 when its length is not known.
func perSecond(n float64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return n / over.Seconds()
}
