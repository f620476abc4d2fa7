package artifact

import (
	"math"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// What was read out of a program's memory has the forms that the program itself would have
// given: profiles of its goroutines and of its heap, and a metrics log under the names of
// runtime/metrics.

// memoryComment tells a profile that was read from outside from the runtime's.
const memoryComment = "gowhy goroutines read from memory; of a group of equal ones the stack is the oldest one's"

// GoroutineProfile returns a snapshot in the form of the runtime's goroutine profile,
// which leaves out the runtime's own goroutines too. watched is for how long they were
// looked at before: labels say how many of a group made no step in it.
func GoroutineProfile(s *goroutines.Snapshot, watched time.Duration) *profile.Profile {
	kind := &profile.ValueType{Type: "goroutine", Unit: "count"}
	p := &profile.Profile{SampleType: []*profile.ValueType{kind}, PeriodType: kind, Period: 1, TimeNanos: s.Time.UnixNano(), Comments: []string{memoryComment}}
	if _, of := new(goroutines.Group).UnchangedFor(watched); of > 0 {
		p.Comments = append(p.Comments, StillComment(of))
	}
	if s.Unread > 0 {
		p.Comments = append(p.Comments, UnlabelledComment(s.Unread))
	}
	w := stacks.NewWriter(p)
	for _, g := range s.Groups {
		if g.System {
			continue
		}
		stack := g.Stack
		if len(stack) == 0 { // it runs, or is of a small group
			stack = []symbols.Place{g.Start}
		}
		at := locationsOf(w, stack)
		if len(at) == 0 {
			continue
		}
		for _, part := range partsOf(&g) {
			p.Sample = append(p.Sample, &profile.Sample{Value: []int64{int64(part.Count)}, Location: at, Label: standingLabels(&part, watched)})
		}
	}
	return p
}

// partsOf returns a group for each of its sets of labels.
func partsOf(g *goroutines.Group) []goroutines.Group {
	if len(g.Parts) == 0 {
		return []goroutines.Group{*g}
	}
	list := make([]goroutines.Group, len(g.Parts))
	for i, p := range g.Parts {
		list[i] = *g
		list[i].Count, list[i].Oldest, list[i].Ages, list[i].Parts = p.Count, p.Oldest, p.Ages, g.Parts[i:i+1]
	}
	return list
}

// standingLabels say what a dump of the runtime prints of a goroutine beside its stack: the
// program's labels, the state, and for how many minutes it has waited, of the one that has
// waited longest; and of a group how many made no step while it was watched.
func standingLabels(g *goroutines.Group, watched time.Duration) map[string][]string {
	labels := map[string][]string{}
	for _, p := range g.Parts {
		for _, l := range p.Labels {
			labels[l.Key] = []string{l.Value}
		}
	}
	labels["state"] = []string{g.State.String()}
	if g.State == goroutines.Waiting && g.Reason != "" {
		labels["state"] = []string{g.Reason}
	}
	if n := int(g.Oldest / time.Minute); g.State == goroutines.Waiting && n > 0 {
		labels["minutes"] = []string{strconv.Itoa(n)}
	}
	if n, _ := g.UnchangedFor(watched); n > 0 && (g.State == goroutines.Waiting || g.State == goroutines.Syscall) {
		labels[StillLabel] = []string{strconv.Itoa(n)}
	}
	return labels
}

// heapComment tells such a profile from the one that runtime/pprof gives.
const heapComment = "gowhy memory profile read from memory"

// MemoryProfile is in the form of runtime/pprof's profile of the heap.
func MemoryProfile(h *goroutines.Heap, frames func(*goroutines.Site) []symbols.Place) *profile.Profile {
	p := &profile.Profile{
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: h.Rate, TimeNanos: h.Time.UnixNano(),
		SampleType: heapTypes(), DefaultSampleType: "inuse_space", Comments: []string{heapComment},
	}
	w := stacks.NewWriter(p)
	for i := range h.Sites {
		s := &h.Sites[i]
		if s.Allocs == 0 {
			continue
		}
		if at := locationsOf(w, frames(s)); len(at) > 0 {
			p.Sample = append(p.Sample, &profile.Sample{Location: at, Value: heapValues(s.Size, h.Rate, s.Allocs, s.Frees), NumLabel: map[string][]int64{"bytes": {s.Size}}})
		}
	}
	return p
}

// heapTypes returns the columns of a profile of the heap.
func heapTypes() (types []*profile.ValueType) {
	for _, kind := range []string{"alloc", "inuse"} {
		types = append(types, &profile.ValueType{Type: kind + "_objects", Unit: "count"}, &profile.ValueType{Type: kind + "_space", Unit: "bytes"})
	}
	return types
}

// heapValues returns the values of these columns, of objects of a size that were sampled.
func heapValues(size, rate, allocs, frees int64) (values []int64) {
	by := unsampled(size, rate)
	for _, n := range []int64{allocs, allocs - frees} {
		values = append(values, int64(float64(n)*by), int64(float64(n*size)*by))
	}
	return values
}

// unsampled is for how many objects of a size one stands that was sampled: each was with
// the probability 1 - exp(-size/rate), as runtime/pprof has it.
func unsampled(size, rate int64) float64 {
	if size == 0 || rate <= 1 {
		return 1
	}
	return 1 / (1 - math.Exp(-float64(size)/float64(rate)))
}

// locationsOf returns the places of a stack in a profile, but for what all goroutines end in.
func locationsOf(w *stacks.Writer, of []symbols.Place) (stack []*profile.Location) {
	for _, at := range of {
		if at.Func != "" && at.Func != "runtime.goexit" {
			stack = append(stack, w.Location(stacks.Frame{Func: at.Func, File: at.File, Line: at.Line}))
		}
	}
	return stack
}

// counterMetrics say which metric is which counter; negative is not known.
var counterMetrics = []struct {
	name string
	of   func(c *goroutines.Runtime) int64
}{
	{"/sched/gomaxprocs:threads", func(c *goroutines.Runtime) int64 { return int64(c.Procs) }},
	{"/gc/cycles/total:gc-cycles", func(c *goroutines.Runtime) int64 { return c.Collections }},
	{"/gc/cycles/forced:gc-cycles", func(c *goroutines.Runtime) int64 { return c.Forced }},
	{"/gc/heap/live:bytes", func(c *goroutines.Runtime) int64 { return c.HeapMarked }},
	{"/gc/heap/goal:bytes", heapGoal},
	{"/gc/heap/allocs:bytes", func(c *goroutines.Runtime) int64 { return c.Allocated }},
	{"/gc/gogc:percent", func(c *goroutines.Runtime) int64 { return c.GOGC }},
	{"/gc/gomemlimit:bytes", func(c *goroutines.Runtime) int64 { return c.MemoryLimit }},
	{"/memory/classes/heap/released:bytes", func(c *goroutines.Runtime) int64 { return c.Released }},
	{"/memory/classes/total:bytes", mappedInAll},
}

// usageMetrics say which metric is which count of the runtime's memory.
var usageMetrics = []struct {
	name string
	of   func(u *goroutines.Usage) int64
}{
	{"/memory/classes/heap/objects:bytes", func(u *goroutines.Usage) int64 { return u.Objects }},
	{"/memory/classes/heap/unused:bytes", func(u *goroutines.Usage) int64 { return u.Unused }},
	{"/memory/classes/heap/free:bytes", func(u *goroutines.Usage) int64 { return u.Free }},
	{"/memory/classes/heap/stacks:bytes", func(u *goroutines.Usage) int64 { return u.Stacks }},
	{"/memory/classes/metadata/other:bytes", func(u *goroutines.Usage) int64 { return u.GC + u.GCWork }},
	{"/memory/classes/os-stacks:bytes", func(u *goroutines.Usage) int64 { return u.ThreadStacks }},
	{"/memory/classes/other:bytes", func(u *goroutines.Usage) int64 { return u.Other }},
	{"/memory/classes/profiling/buckets:bytes", func(u *goroutines.Usage) int64 { return u.Buckets }},
	// The runtime's metrics have them by what is in use and what is not.
	{"/memory/classes/metadata/mspan/inuse:bytes", func(u *goroutines.Usage) int64 { return u.Spans }},
	{"/memory/classes/metadata/mcache/inuse:bytes", func(u *goroutines.Usage) int64 { return u.Caches }},
}

// heapGoal returns the goal where GOGC alone sets it: with a memory limit it may be less.
func heapGoal(c *goroutines.Runtime) int64 {
	if c.MemoryLimit != goroutines.Off {
		return -1
	}
	return c.HeapGoal
}

// mappedInAll counts what was given back, as the metric does.
func mappedInAll(c *goroutines.Runtime) int64 {
	if c.Mapped < 0 || c.Released < 0 {
		return -1
	}
	return c.Mapped + c.Released
}

// CountersHeader returns the first line of a metrics log of what a runtime counts.
func CountersHeader() MetricsHeader {
	head := MetricsHeader{Header: Header{Kind: MetricsKind, Schema: MetricsSchema}}
	for _, m := range counterMetrics {
		head.Scalars = append(head.Scalars, m.name)
	}
	for _, m := range usageMetrics {
		head.Scalars = append(head.Scalars, m.name)
	}
	return head
}

// CountersLine returns a further line, without its time. A metric that is not sure is left out, and
// never written as zero.
func CountersLine(c *goroutines.Runtime, usage func() (goroutines.Usage, bool)) MetricsLine {
	line := MetricsLine{Values: make([]*float64, len(counterMetrics)+len(usageMetrics))}
	for i, m := range counterMetrics {
		if v := m.of(c); v >= 0 {
			line.Values[i] = new(float64(v))
		}
	}
	if u, ok := usage(); ok {
		for i, m := range usageMetrics {
			line.Values[len(counterMetrics)+i] = new(float64(m.of(&u)))
		}
	}
	return line
}
