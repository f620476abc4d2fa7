package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Check tells whether the accounts of the model add up: parts to wholes,
// goroutines to their groups, groups to Ps, waits to the blocked time they
// explain, and everything within the window. It returns all that it found
// wrong, nil when nothing is.
//
// Accounts of goroutines and of Ps come from different events; they are
// compared only as far as the evidence was whole (see [Coverage]).
func (m *Model) Check() error {
	c := &check{m: m}
	if m.Run.Duration < 0 || m.Run.Procs < 0 {
		c.errorf("run: duration %v, %d Ps", m.Run.Duration, m.Run.Procs)
	}
	if m.Sched != nil {
		c.groups()
		c.goroutines()
		c.procs()
		c.timeline()
		c.waits()
		c.wakes()
	}
	if m.GC != nil {
		c.collector()
	}
	if m.Tasks != nil {
		c.tasks()
	}
	c.profile("CPU", m.CPU)
	c.profile("heap", m.Heap)
	if m.Kernel != nil {
		c.profile("kernel", m.Kernel.CPU)
		c.profile("off-CPU", m.Kernel.Off)
		c.moments(m.Kernel)
	}
	c.cpu()
	c.counters()
	return errors.Join(c.errs...)
}

// maxFaults keeps the error of a model that is wrong everywhere readable.
const maxFaults = 20

type check struct {
	m    *Model
	errs []error
}

func (c *check) errorf(format string, args ...any) {
	if len(c.errs) < maxFaults {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

// slack returns the difference that accounts of different events may have: the time whose
// owner is uncertain, and a microsecond for rounding.
func (c *check) slack() time.Duration {
	cov := c.m.Run.Coverage
	uncertain := cov.Unknown + cov.Overlap + cov.Lost + c.m.Sched.ProcSeconds().Unknown
	return uncertain*time.Duration(max(1, c.m.Run.Procs)) + time.Microsecond
}

// whole reports whether nothing was lost or guessed, so that accounts of
// different events must agree.
func (c *check) whole() bool {
	cov := c.m.Run.Coverage
	return cov.Damaged == 0 && cov.Forced == 0 && cov.LostBytes == 0
}

func (c *check) times(what string, t Times, ranges map[string]time.Duration, longest time.Duration) {
	parts := []time.Duration{t.Running, t.Runnable, t.Syscall, t.SyscallBlocked, t.Unknown}
	for _, d := range t.Blocked {
		parts = append(parts, d)
	}
	for _, d := range ranges {
		parts = append(parts, d)
	}
	if low := slices.Min(parts); low < 0 {
		c.errorf("%s: a part of its time is %v", what, low)
	}
	if total := t.Total(); total > longest {
		c.errorf("%s: %v of time, %v is the most there was", what, total, longest)
	}
}

func (c *check) histogram(what string, h Histogram) {
	var n int64
	for i, k := range h.Counts {
		if low, _ := HistogramBounds(i); k > 0 && low > h.Max {
			c.errorf("%s: counts %v or more, the largest is %v", what, low, h.Max)
		}
		n += k
	}
	if n != h.N {
		c.errorf("%s: buckets hold %d, N is %d", what, n, h.N)
	}
}

func (c *check) stack(what string, id Stack) {
	if id < 0 || int(id) >= c.m.Stacks.Len() {
		c.errorf("%s: stack %d of %d", what, id, c.m.Stacks.Len())
	}
}

func (c *check) groups() {
	s := c.m.Sched
	names := map[string]bool{}
	var delays int64
	for i := range s.Groups {
		g := &s.Groups[i]
		what := fmt.Sprintf("group %q", g.Name)
		if names[g.Name] {
			c.errorf("%s: listed twice", what)
		}
		names[g.Name] = true
		if g.Created < 0 || g.Ended < 0 || g.Created > g.Count || g.Ended > g.Count || g.Peak > g.Count {
			c.errorf("%s: %d goroutines, %d created, %d ended, peak %d", what, g.Count, g.Created, g.Ended, g.Peak)
		}
		c.times(what, g.Times, g.Ranges, time.Duration(g.Count)*c.m.Run.Duration)
		c.stack(what, g.Creator)
		c.histogram(what+" delay", g.Delay)
		c.histogram(what+" running", g.RunningEach)
		c.histogram(what+" life", g.Life)
		delays += g.Delay.N
	}
	if !slices.IsSortedFunc(s.Groups, func(a, b Group) int { return cmp.Compare(b.Total(), a.Total()) }) {
		c.errorf("groups: not the largest first")
	}
	c.histogram("delay", s.Delay)
	c.histogram("slice", s.Slice)
	if c.whole() && s.Delay.N != delays {
		c.errorf("delay: %d waits for a P, the groups have %d", s.Delay.N, delays)
	}
}

func (c *check) goroutines() {
	type sum struct {
		count int
		Times
	}
	sums := map[string]*sum{}
	for i := range c.m.Sched.Goroutines {
		g := &c.m.Sched.Goroutines[i]
		c.times(fmt.Sprintf("goroutine %d", g.ID), g.Times, g.Ranges, c.m.Run.Duration)
		if sums[g.Group] == nil {
			sums[g.Group] = &sum{}
		}
		sums[g.Group].count++
		sums[g.Group].Add(g.Times)
	}
	for name, kept := range sums {
		g := c.m.Sched.Group(name)
		switch {
		case g == nil:
			c.errorf("goroutines of group %q, which is not listed", name)
		case kept.count > g.Count || kept.Total() > g.Total():
			c.errorf("group %q: %d goroutines with %v kept of %d with %v", name, kept.count, kept.Total(), g.Count, g.Total())
		case c.m.Sched.AllKept && !sameTimes(kept.Times, g.Times):
			c.errorf("group %q: its goroutines add up to %+v, it has %+v", name, kept.Times, g.Times)
		}
	}
	if c.m.Sched.AllKept {
		for i := range c.m.Sched.Groups {
			if g := &c.m.Sched.Groups[i]; sums[g.Name] == nil && g.Count > 0 || sums[g.Name] != nil && sums[g.Name].count != g.Count {
				c.errorf("group %q: %d goroutines, not all of them kept", g.Name, g.Count)
			}
		}
	}
}

func sameTimes(a, b Times) bool {
	for r, d := range a.Blocked {
		if b.Blocked[r] != d {
			return false
		}
	}
	return a.Running == b.Running && a.Runnable == b.Runnable && a.Syscall == b.Syscall &&
		a.SyscallBlocked == b.SyscallBlocked && a.Unknown == b.Unknown && a.BlockedTotal() == b.BlockedTotal()
}

func (c *check) procs() {
	s := c.m.Sched
	for i, p := range s.Procs {
		what := fmt.Sprintf("P %d", p.ID)
		if i > 0 && s.Procs[i-1].ID >= p.ID {
			c.errorf("%s: listed after P %d", what, s.Procs[i-1].ID)
		}
		if min(p.User, p.GC, p.GCIdle, p.Syscall, p.Scheduler, p.Idle, p.Unknown) < 0 {
			c.errorf("%s: a part of its time is negative: %+v", what, p)
		}
		if p.Total() > c.m.Run.Duration {
			c.errorf("%s: %v of time in a window of %v", what, p.Total(), c.m.Run.Duration)
		}
	}
	all := s.ProcSeconds()
	ran, running := all.User+all.GC+all.GCIdle, s.Total().Running
	if diff := (ran - running).Abs(); c.whole() && len(s.Procs) > 0 && diff > c.slack() {
		c.errorf("Ps ran goroutines for %v, goroutines ran for %v", ran, running)
	}
}

func (c *check) timeline() {
	var ran float64
	for i, b := range c.m.Sched.Timeline {
		if b.Width <= 0 || b.Running < 0 || b.Held < 0 || b.Runnable < 0 {
			c.errorf("timeline: %+v", b)
		}
		if i > 0 {
			if before := c.m.Sched.Timeline[i-1]; before.Start+before.Width != b.Start {
				c.errorf("timeline: a bucket ends at %v, the next begins at %v", before.Start+before.Width, b.Start)
			}
		}
		ran += b.Running * b.Width.Seconds()
	}
	// A rounded nanosecond for each bucket on top of what the events may differ by.
	slack := c.slack() + time.Duration(len(c.m.Sched.Timeline))
	running := c.m.Sched.Total().Running
	if diff := ran - running.Seconds(); c.whole() && len(c.m.Sched.Timeline) > 0 && max(diff, -diff) > slack.Seconds() {
		c.errorf("timeline: %.9fs of running goroutines, the groups have %v", ran, running)
	}
}

// waits compares the blocking profiles with the accounts they are another
// view of. They may be smaller: of system calls those without an end are not in them.
func (c *check) waits() {
	s := c.m.Sched
	type key struct {
		group  string
		kind   WaitKind
		reason string
	}
	sums := map[key]time.Duration{}
	for _, w := range s.Waits {
		if w.Count < 0 || w.Total < 0 || w.Parked < 0 || w.Parked > w.Open || w.OpenTotal < 0 || w.OpenTotal > w.Total {
			c.errorf("wait: %+v", w)
		}
		c.stack("wait", w.Stack)
		sums[key{w.Group, w.Kind, w.Reason}] += w.Total
	}
	for k, total := range sums {
		g := s.Group(k.group)
		if g == nil {
			c.errorf("waits of group %q, which is not listed", k.group)
			continue
		}
		most := g.Blocked[k.reason]
		switch k.kind {
		case SchedWait:
			most = g.Runnable
		case SyscallWait:
			most = g.Syscall + g.SyscallBlocked
		case Net, Sync, OtherWait:
		default:
			c.errorf("waits of group %q: kind %q", k.group, k.kind)
		}
		if total > most {
			c.errorf("waits of group %q, %s %q: %v, the group has %v", k.group, k.kind, k.reason, total, most)
		}
	}
	if !slices.IsSortedFunc(s.Waits, func(a, b Wait) int { return cmp.Compare(b.Total, a.Total) }) {
		c.errorf("waits: not the largest first")
	}
}

func (c *check) wakes() {
	for _, w := range c.m.Sched.Wakes {
		c.stack("wake", w.Waker)
		c.stack("wake", w.Woken)
		if w.Count < 0 {
			c.errorf("wake: %+v", w)
		}
	}
	for _, h := range c.m.Sched.Handovers {
		c.stack("handover", h.Stack)
		if h.Taken > h.Waits || h.TakenTime > h.Waited || h.Idle > h.Lived || h.PeersIdle > h.PeersLived || h.GaveUp < 0 {
			c.errorf("handover: %+v", h)
		}
	}
	for _, r := range c.m.Sched.Retries {
		c.stack("retry", r.Stack)
		if r.Again > r.Calls || r.Between < 0 {
			c.errorf("retry: %+v", r)
		}
	}
	for _, b := range c.m.Sched.Bursts {
		c.stack("burst", b.Waker)
		if b.Max < MinBurst && b.Count > 0 || b.Futile > b.Woken || b.Woken < b.Count*MinBurst {
			c.errorf("burst: %+v", b)
		}
	}
}

func (c *check) collector() {
	g := c.m.GC
	if !slices.IsSortedFunc(g.Load, func(a, b LoadChange) int { return cmp.Compare(a.At, b.At) }) {
		c.errorf("collector load: not in time order")
	}
	if !slices.IsSortedFunc(g.Heap, func(a, b HeapSample) int { return cmp.Compare(a.At, b.At) }) {
		c.errorf("heap: not in time order")
	}
	for _, p := range g.Pauses {
		c.stack("pause", p.Stack)
		if p.Duration < 0 || p.At < 0 || p.At+p.Duration > c.m.Run.Duration {
			c.errorf("pause %q: %v at %v of %v", p.Kind, p.Duration, p.At, c.m.Run.Duration)
		}
	}
	for _, cy := range g.Cycles {
		if cy.End >= 0 && cy.End < cy.Begin {
			c.errorf("collection %d: from %v to %v", cy.Seq, cy.Begin, cy.End)
		}
	}
}

func (c *check) tasks() {
	for _, t := range c.m.Tasks.Tasks {
		c.histogram("task "+t.Name, t.Latency)
		if t.Complete > t.Count || t.Latency.N != t.Complete {
			c.errorf("task %q: %d seen, %d complete, %d latencies", t.Name, t.Count, t.Complete, t.Latency.N)
		}
	}
	for _, r := range c.m.Tasks.Regions {
		c.histogram("region "+r.Name, r.Latency)
	}
}

func (c *check) profile(what string, p *Profile) {
	if p == nil {
		return
	}
	for _, s := range p.Samples {
		c.stack(what+" sample", s.Stack)
		if len(s.Values) != len(p.Types) {
			c.errorf("%s sample: %d values of %d types", what, len(s.Values), len(p.Types))
		}
	}
}

// moments asks whether the samples with a time are samples of the profile.
func (c *check) moments(k *Kernel) {
	samples := 0
	if k.CPU != nil {
		samples = len(k.CPU.Samples)
	}
	for i, x := range k.Moments {
		if x.Sample < 0 || int(x.Sample) >= samples || i > 0 && x.At < k.Moments[i-1].At {
			c.errorf("kernel sample at %v: stack %d of %d", x.At, x.Sample, samples)
		}
	}
}

// cpu asks whether the account of CPU time adds up.
func (c *check) cpu() {
	a := c.m.CPUAccount()
	if a == nil {
		return
	}
	var sum time.Duration
	for _, e := range a.Parts {
		var by time.Duration
		for _, n := range e.By {
			by += n.Time
		}
		if e.Time <= 0 || by > e.Time+time.Duration(len(e.By)) {
			c.errorf("CPU account: %s has %v, its pieces %v", e.Part, e.Time, by)
		}
		sum += e.Time
	}
	if sum != a.Total {
		c.errorf("CPU account: the parts add up to %v of %v", sum, a.Total)
	}
	if a.Known && a.Total != a.User+a.System {
		c.errorf("CPU account: %v in all, %v in user mode and %v in the kernel", a.Total, a.User, a.System)
	}
}

// counters asks whether what only counts up does.
func (c *check) counters() {
	if c.m.Process == nil {
		return
	}
	for i, s := range c.m.Process.Samples[:max(0, len(c.m.Process.Samples)-1)] {
		next := c.m.Process.Samples[i+1]
		if next.At < s.At || next.User < s.User || next.System < s.System {
			c.errorf("process: at %v user %v and system %v, at %v %v and %v", s.At, s.User, s.System, next.At, next.User, next.System)
		}
	}
}
