package experiment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Formula is a way to compute the number of workers from one run's trace.
type Formula struct {
	Name string `json:"name"`
	Text string `json:"text"` // the formula itself
	// At are the counts that it was measured at and Says what it says there.
	At   []float64 `json:"at"`
	Says []float64 `json:"says"`
	// Stable is set when it says about the same everywhere, within 2×.
	Stable bool   `json:"stable"`
	Why    string `json:"why"`
}

// WorkerTimes is how a group of workers spent its time, in the terms of the
// formulas.
type WorkerTimes struct {
	Group string
	Count int
	Procs int
	// Exec is time on a P, Syscall in system calls, Blocked all waits but those
	// below.
	Exec, Syscall, Blocked time.Duration
	Sched                  time.Duration // ready, waiting for a P
	GC                     time.Duration // waiting for the collector
	Idle                   time.Duration // waiting for a task, in the worker's own function
}

func (t WorkerTimes) total() time.Duration {
	return t.Exec + t.Syscall + t.Blocked + t.Sched + t.GC + t.Idle
}

// waitOverWork returns the case study's first formula.
func (t WorkerTimes) waitOverWork() float64 {
	return statistics.Quotient(float64(t.total()), float64(t.Exec+t.Syscall+t.Blocked))
}

// goetz returns its second (B. Goetz, Java Concurrency in Practice, 2006, 8.2), with
// what the tracer calls execution for the CPU time, as there.
func (t WorkerTimes) goetz() float64 {
	return float64(t.Procs) * statistics.Quotient(float64(t.total()), float64(t.Exec))
}

// stable leaves out the waits that more workers make longer. A system call
// counts as work: a trace cannot tell whether the kernel works in it or waits,
// and with more threads than CPUs those in the kernel wait for each other too.
func (t WorkerTimes) stable() float64 {
	return float64(t.Procs) * statistics.Quotient(float64(t.Exec+t.Syscall+t.Blocked), float64(t.Exec+t.Syscall))
}

// Formulas computes what the literature's formulas say from runs with
// different numbers of workers.
func Formulas(at []float64, times []WorkerTimes) []Formula {
	list := []Formula{
		{Name: "wait over work", Text: "(sched wait + exec + block + syscall) / (exec + block + syscall)",
			Why: "its scheduler wait grows with the workers that were there to wait, so that it says more the more there were"},
		{Name: "Goetz", Text: "CPUs × (wait + CPU) / CPU",
			Why: "right where waits are for others; a trace's waits are also those for a P, which more workers make longer"},
		{Name: "stable estimate", Text: "Ps × (exec + syscall + blocked) / (exec + syscall)",
			Why: "leaves out waits for a P, for the collector and for a task: how many tasks at once keep all Ps busy. It " +
				"takes system calls for work, though a disk may be waited for in them, and waits for locks for waits that " +
				"another worker could fill"},
	}
	for i := range list {
		f := &list[i]
		for j, t := range times {
			says := [...]func() float64{t.waitOverWork, t.goetz, t.stable}[i]()
			if says > 0 && !math.IsInf(says, 0) {
				f.At, f.Says = append(f.At, at[j]), append(f.Says, says)
			}
		}
		f.Stable = len(f.Says) > 0 && slices.Max(f.Says) <= 2*slices.Min(f.Says)
	}
	return list
}

// MeasureWorkers finds the workers in a run that had a number of them: the
// program's own group of goroutines of about that size that existed longest.
// name, when not empty, is the group that it was in another run.
func MeasureWorkers(m *model.Model, count float64, name string) (WorkerTimes, error) {
	if m == nil || m.Sched == nil {
		return WorkerTimes{}, fmt.Errorf("the recording has no execution trace")
	}
	var found *model.Group
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		switch {
		case g.System || !(float64(g.Peak) >= 0.5*count && float64(g.Peak) <= 2*count+2):
		case name != "" && g.Name != name:
		case g.Name == "main.main" || g.Name == "runtime.main":
		case found == nil || g.Total() > found.Total():
			found = g
		}
	}
	if found == nil {
		return WorkerTimes{}, fmt.Errorf("no group of goroutines in the trace has about %v members", count)
	}
	procs := m.Run.Procs
	if procs == 0 {
		procs = len(m.Sched.Procs)
	}
	t := WorkerTimes{Group: found.Name, Count: found.Peak, Procs: procs,
		Exec: found.Running, Syscall: found.Syscall + found.SyscallBlocked, Blocked: found.BlockedTotal(), Sched: found.Runnable}
	t.GC, t.Idle = waitsOf(m, found)
	t.Blocked -= t.GC + t.Idle
	return t, nil
}

// waitsOf returns the time that a group waited for the collector, and for tasks: an
// idle worker waits in its own function to receive the next one, which would
// make any formula ask for more workers the fewer tasks there are.
func waitsOf(m *model.Model, g *model.Group) (collector, tasks time.Duration) {
	for reason, d := range g.Blocked {
		if strings.Contains(reason, "GC") {
			collector += d
		}
	}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Group != g.Name || w.Kind != model.Sync || strings.Contains(w.Reason, "GC") {
			continue
		}
		inCollector, at := waitedIn(m.Stacks.Frames(w.Stack))
		switch {
		case inCollector:
			collector += w.Total
		case at == g.Name && (w.Reason == "chan receive" || w.Reason == "select"):
			tasks += w.Total
		}
	}
	collector = min(collector, g.BlockedTotal())
	return collector, min(tasks, g.BlockedTotal()-collector)
}

// waitedIn returns the first function of a stack that is not the runtime's, and
// whether the collector was below it: who waits to start a collection, or to
// assist it, does so on a lock.
func waitedIn(stack []model.Frame) (inCollector bool, function string) {
	for _, f := range stack {
		if !strings.HasPrefix(f.Func, "runtime.") {
			return inCollector, f.Func
		}
		inCollector = inCollector || strings.HasPrefix(f.Func, "runtime.gc")
	}
	return inCollector, ""
}

// formulas records the program at a few of the counts and computes what the
// literature says there. What goes wrong is a reason to go without, not to
// lose the curve.
func (f *finder) formulas(ctx context.Context, c *Curve) error {
	if c.Knob.Counts != Workers {
		return nil
	}
	if f.Record == nil {
		c.NoFormulas = f.NoRecord
		return nil
	}
	times, at, why := f.workerTimes(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(times) == 0 {
		c.NoFormulas = why
		return nil
	}
	c.Formulas = Formulas(at, times)
	return nil
}

// workerTimes goes from the largest count down: where most goroutines are
// workers the group is plain to see, and its name is known from then on.
func (f *finder) workerTimes(ctx context.Context, c *Curve) (times []WorkerTimes, at []float64, why string) {
	name := ""
	for _, v := range slices.Backward(c.recordAt()) {
		setting := Setting{c.Knob.Name: v}
		maps.Copy(setting, c.Others)
		f.progress(f.done, f.of, "a trace with "+c.Knob.Name+"="+c.Knob.Format(v))
		m, err := f.Record(ctx, setting)
		if err == nil {
			var t WorkerTimes
			if t, err = MeasureWorkers(m, v, name); err == nil {
				times, at, name = append(times, t), append(at, v), t.Group
			}
		}
		if err != nil && why == "" {
			why = err.Error()
			if len(times) == 0 && m == nil {
				break // it cannot be traced at all
			}
		}
	}
	slices.Reverse(times)
	slices.Reverse(at)
	return times, at, why
}

// fewWorkers is the count at the low end that traces are taken at: more than
// the CPUs of small machines, so that formulas see some waiting.
const fewWorkers = 4

// recordAt are at most four of the tested counts: a few, the recommended, the
// largest, and one between these.
func (c *Curve) recordAt() []float64 {
	var tested []float64
	for i := range c.Points {
		if c.Points[i].measured() && c.Points[i].Value >= 1 {
			tested = append(tested, c.Points[i].Value)
		}
	}
	if len(tested) == 0 {
		return nil
	}
	top := tested[len(tested)-1]
	knee := top
	if c.Chosen >= 0 {
		knee = max(1, c.Points[c.Chosen].Value)
	}
	var list []float64
	for _, want := range []float64{fewWorkers, knee, math.Sqrt(max(knee, fewWorkers) * top), top} {
		nearest := slices.MinFunc(tested, func(a, b float64) int {
			return cmp.Compare(math.Abs(math.Log(a/want)), math.Abs(math.Log(b/want)))
		})
		list = append(list, nearest)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
