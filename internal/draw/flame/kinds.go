package flame

import (
	"iter"
	"math"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A Kind is one of the trees that a model holds.
type Kind struct {
	Name  string // cpu, kernel, offcpu, net, …
	Unit  string // nanoseconds, bytes, count
	Total int64
}

// A kind says where the stacks of one tree come from. Either source or
// stacks is set.
type kind struct {
	name string
	// source is what was recorded as a profile, and column which of its values
	// counts, -1 when it has none of these.
	source model.Source
	column func(*model.Profile) int
	// moment is set where the values are of one moment: it has no length that
	// they could be divided by.
	moment bool
	// stacks are what a trace tells, in nanoseconds of goroutine time.
	stacks func(*model.Model) iter.Seq[stack]
	note   func(*model.Model, *model.Profile) string
}

// kinds are all trees, in the order in which they are offered.
var kinds = []kind{
	{name: "cpu", source: model.CPU, column: timed, note: cpuNote},
	{name: "kernel", source: model.KernelCPU, column: timed, note: kernelNote},
	{name: "wall", source: model.Wall, column: timed, note: wallNote},
	{name: "offcpu", source: model.OffCPU, column: timed, note: offNote},
	{name: "states", stacks: stateStacks, note: says("Time of all goroutines by start function and state; they exist side by side, so it exceeds the clock's.")},
	{name: "net", stacks: waits(model.Net), note: says("Time that goroutines waited for the network.")},
	{name: "sync", stacks: waits(model.Sync), note: says("Time that goroutines waited for each other: channels, mutexes, conditions, wait groups.")},
	{name: "syscall", stacks: waits(model.SyscallWait), note: says("Time that goroutines were in system calls or C code, with or without a P.")},
	{name: "sched", stacks: waits(model.SchedWait), note: says("Time that goroutines were ready and waited for a P. Below " + madeReady + " is the stack of whoever made them ready.")},
	{name: "other", stacks: waits(model.OtherWait), note: says("Time that goroutines waited for what no other kind has: sleeping, the collector, for ever.")},
	{name: "alloc_space", source: model.Heap, column: named("alloc_space"), note: allocNote},
	{name: "alloc_objects", source: model.Heap, column: named("alloc_objects"), note: allocNote},
	{name: "inuse_space", source: model.LiveHeap, column: named("inuse_space"), moment: true, note: inuseNote},
	{name: "inuse_objects", source: model.LiveHeap, column: named("inuse_objects"), moment: true, note: inuseNote},
	{name: "block", source: model.Block, column: last, note: blockNote},
	{name: "mutex", source: model.Mutex, column: last, note: mutexNote},
	{name: "goroutine", source: model.GoroutineProfile, column: last, moment: true, note: says("Goroutines that existed at the end, by where they were.")},
	{name: "goroutineleak", source: model.Leak, column: last, moment: true, note: says("Goroutines that nothing can wake any more, by where they wait.")},
	{name: "threadcreate", source: model.ThreadCreate, column: last, moment: true, note: says("Threads that were started, by who made the runtime start one; most have no stack.")},
}

// profile returns what was recorded as a kind's profile, nil for what a trace tells.
func (k *kind) profile(m *model.Model) *model.Profile {
	if k.source == model.LiveHeap {
		return m.InUse()
	}
	return m.Profile(k.source)
}

// timed finds the column of time; where samples were only counted, that of counts.
func timed(p *model.Profile) int {
	count, nanos := p.Columns()
	if nanos >= 0 {
		return nanos
	}
	return count
}

func named(name string) func(*model.Profile) int {
	return func(p *model.Profile) int {
		for i, t := range p.Types {
			if t.Name == name {
				return i
			}
		}
		return -1
	}
}

func last(p *model.Profile) int { return len(p.Types) - 1 }

func kindNamed(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

// Kinds returns the trees that a model has anything for, in the order in which
// a reader is offered them. A total beyond an int64 is math.MaxInt64: [Build]
// will refuse that tree.
func Kinds(m *model.Model) (list []Kind) {
	for i := range kinds {
		k := &kinds[i]
		if total := k.total(m); total > 0 {
			list = append(list, Kind{k.name, k.unit(m), total})
		}
	}
	return list
}

func (k *kind) unit(m *model.Model) string {
	if k.stacks != nil {
		return "nanoseconds"
	}
	p := k.profile(m)
	if p == nil {
		return ""
	}
	if c := k.column(p); c >= 0 {
		return p.Types[c].Unit
	}
	return ""
}

// total returns the value of the tree's root, without building it.
func (k *kind) total(m *model.Model) (total int64) {
	plain := true
	for s := range k.each(m) {
		plain = plain && s.value >= 0
		total = addUp(total, s.value)
	}
	if plain {
		return total
	}
	w, _ := gather(k, m, choice{})
	return w.total
}

// each hands out every stack of the kind with its value. Values may be 0 and,
// of profiles that are a difference, below it.
func (k *kind) each(m *model.Model) iter.Seq[stack] {
	if k.stacks != nil {
		if m.Sched == nil {
			return func(func(stack) bool) {}
		}
		return k.stacks(m)
	}
	return func(yield func(stack) bool) {
		p := k.profile(m)
		if p == nil {
			return
		}
		c := k.column(p)
		if c < 0 {
			return
		}
		threads := k.name == "kernel" || k.name == "offcpu"
		number, _ := p.Columns()
		for i := range p.Samples {
			s := &p.Samples[i]
			if c >= len(s.Values) || s.Values[c] == 0 {
				continue
			}
			out := stack{frames: s.Stack, value: s.Values[c], count: int64(s.Value(number)), index: i, group: s.Group}
			if !threads {
				out.labels = s.Labels
			}
			if threads {
				out.leaf = kernelLeaf(m, s)
			}
			if !yield(out) {
				return
			}
		}
	}
}

// kernelLeaf names what a thread did in the kernel where the stack does not
// show it, because the kernel's own frames were not permitted.
func kernelLeaf(m *model.Model, s *model.Sample) string {
	if len(s.Labels) == 0 || kernelDepth(m.Stacks.Frames(s.Stack)) > 0 {
		return ""
	}
	switch {
	case s.Labels["preempted"] == "true":
		return "[preempted]"
	case s.Labels["syscall"] != "":
		return "[kernel: " + s.Labels["syscall"] + "]"
	case s.Labels["mode"] == "kernel":
		if call, ok := model.KernelCallOf(m.Stacks.Frames(s.Stack), s.Labels); ok {
			return "[kernel: " + call + "]"
		}
		return "[kernel]"
	}
	return ""
}

const (
	madeReady = "[made ready by]"
	noStack   = "(no stack)"
	// NoGroup stands for goroutines whose start function no evidence names.
	NoGroup = "(no start function known)"
)

// A stack is a line of a kind: a value at a place.
type stack struct {
	group  string // start function; of samples "" where only the frames tell
	state  string // a frame between the group and its stack; empty for none
	frames model.Stack
	leaf   string // a frame below the stack; empty for none
	rooted bool   // the group is the root, whatever the frames say
	value  int64
	count  int64 // of observations
	index  int   // of the sample in its profile, or of the wait in the trace
	labels map[string]string
}

func waits(of model.WaitKind) func(*model.Model) iter.Seq[stack] {
	return func(m *model.Model) iter.Seq[stack] {
		return func(yield func(stack) bool) {
			for i := range m.Sched.Waits {
				w := &m.Sched.Waits[i]
				if w.Kind != of {
					continue
				}
				s := stack{group: w.Group, frames: w.Stack, value: int64(w.Total), count: w.Count, index: i, rooted: true}
				switch {
				case of == model.SchedWait && w.Stack != 0:
					s.state = madeReady
				case w.Stack == 0 && w.Reason != "":
					s.leaf = "[" + w.Reason + "]"
				}
				if !yield(s) {
					return
				}
			}
		}
	}
}

func stateStacks(m *model.Model) iter.Seq[stack] {
	return func(yield func(stack) bool) {
		for t := range m.Sched.StateTimes() {
			if !yield(stack{group: t.Group.Name, state: "[" + t.State + "]", frames: t.Stack, value: int64(t.Total), rooted: true}) {
				return
			}
		}
	}
}

// start returns the start function of the goroutine that a sampled stack is of, as
// far as its outermost frame shows it.
func start(frames []model.Frame) string {
	if len(frames) == 0 {
		return NoGroup
	}
	switch name := frames[len(frames)-1].Func; strings.TrimSuffix(name, ".abi0") {
	case "runtime.mstart", "runtime.mstart0", "runtime.mstart1", "runtime.mcall", "runtime.systemstack", "runtime.morestack", "runtime.goexit":
		return NoGroup // a thread's own stack, not a goroutine's
	default:
		return name
	}
}

// withoutExit leaves out the frame that every goroutine returns to: some
// sources have it, and their trees could not be compared with those that do not.
func withoutExit(frames []model.Frame) []model.Frame {
	if n := len(frames); n > 1 && strings.TrimSuffix(frames[n-1].Func, ".abi0") == "runtime.goexit" {
		return frames[:n-1]
	}
	return frames
}

// addUp adds without running over either end.
func addUp(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}
