package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/timeline"
)

// A sourceKind is a way in which sources of facts begin, and what shows them.
type sourceKind struct {
	prefix string
	// tree shows it by function; the first of these that the run has.
	trees []string
	// chart shows it over time.
	charts []string
	// lanes of the timeline show it; with goroutines, those of the finding's groups.
	lanes      string
	goroutines bool
	state      timeline.State // that the fact is about
	anyState   bool           // it is about all of them
	// derived is set for what was computed from other facts.
	derived bool
	// text is set for what has no picture: it stands in the list of sources.
	text bool
}

// sourceKinds are how the sources of facts begin, those that say more before
// those that say less. A rule with a new kind of source adds its line here;
// TestFindingsCanBeFollowed finds those that did not.
var sourceKinds = []sourceKind{
	// The collector, in a trace.
	{prefix: "trace: collect", lanes: "gc", charts: []string{"gc", "heap"}},
	{prefix: "trace: heap", lanes: "gc", charts: []string{"heap", "gc"}},
	{prefix: "trace: mark assist", lanes: "gc", goroutines: true, state: timeline.GC, charts: []string{"gc"}},
	{prefix: "trace: stops", lanes: "stw", charts: []string{"gc"}},
	// Ps, in a trace.
	{prefix: "trace: Ps", lanes: "ps", charts: []string{"procs"}},
	{prefix: "trace: GOMAXPROCS", lanes: "ps", charts: []string{"procs"}},
	{prefix: "trace: timeline", lanes: "ps", charts: []string{"procs", "runqueue"}},
	{prefix: "trace: generations", lanes: "ps", charts: []string{"procs"}},
	// Goroutines, in a trace.
	{prefix: "trace: waits for a P", goroutines: true, state: timeline.Runnable, trees: []string{"sched"}},
	{prefix: "trace: waits for the network", goroutines: true, state: timeline.Net, trees: []string{"net"}},
	{prefix: "trace: network", goroutines: true, state: timeline.Net, trees: []string{"net"}},
	{prefix: "trace: sync", goroutines: true, state: timeline.Sync, trees: []string{"sync"}},
	{prefix: "trace: waits", goroutines: true, state: timeline.Sync, trees: []string{"sync"}},
	{prefix: "trace: sleeps", goroutines: true, state: timeline.Wait, trees: []string{"other"}},
	{prefix: "trace: wake-ups", goroutines: true, anyState: true, trees: []string{"sched"}},
	{prefix: "trace: system calls", goroutines: true, state: timeline.Syscall, trees: []string{"syscall"}},
	{prefix: "trace: running", goroutines: true, state: timeline.Running, trees: []string{"states"}},
	{prefix: "trace: on a P", goroutines: true, state: timeline.Running, trees: []string{"states"}},
	{prefix: "trace: ran", goroutines: true, state: timeline.Running, trees: []string{"states"}},
	{prefix: "trace", goroutines: true, anyState: true, trees: []string{"states"}},

	// Profiles.
	{prefix: "cpu profile", trees: []string{"cpu", "kernel"}, charts: []string{"cpu"}},
	{prefix: "kernel", trees: []string{"kernel", "cpu"}, charts: []string{"cpu"}},
	{prefix: "allocs profile", trees: []string{"alloc_space", "alloc_objects"}, charts: []string{"heap"}},
	{prefix: "heap profile", trees: []string{"inuse_space", "inuse_objects"}, charts: []string{"heap"}},
	{prefix: "goroutine", trees: []string{"goroutine"}, charts: []string{"goroutines"}},
	{prefix: "block profile", trees: []string{"block"}},
	{prefix: "mutex profile", trees: []string{"mutex"}},

	// What was counted over time.
	{prefix: "runtime/metrics", charts: []string{"goroutines", "heap", "gc", "memory"}},
	{prefix: "metrics: /gc/heap", charts: []string{"heap", "memory"}},
	{prefix: "metrics: /gc", charts: []string{"gc", "heap"}},
	{prefix: "metrics: /cpu", charts: []string{"cpu"}},
	{prefix: "metrics: /memory", charts: []string{"memory", "heap"}},
	{prefix: "metrics: /sched", charts: []string{"goroutines", "runqueue"}},
	{prefix: "metrics: /cgo", charts: []string{"syscalls"}},
	{prefix: "metrics", charts: []string{"heap", "goroutines", "memory"}},
	{prefix: "gctrace", charts: []string{"gc", "heap"}},
	{prefix: "schedtrace", charts: []string{"runqueue", "procs"}},
	{prefix: "/proc/stat", charts: []string{"machine"}},
	{prefix: "/proc: threads", charts: []string{"threads"}},
	{prefix: "/proc: resident", charts: []string{"memory"}},
	{prefix: "/proc: voluntary", charts: []string{"switches"}},
	{prefix: "/proc", charts: []string{"cpu", "machine"}},
	{prefix: "psi", charts: []string{"pressure", "machine"}},
	{prefix: "control group: limits", charts: []string{"cpu", "memory"}},
	{prefix: "control group", charts: []string{"pressure", "cpu"}},
	{prefix: "system calls", charts: []string{"syscalls"}},
	{prefix: "load result: backlog", charts: []string{"load", "latency"}},
	{prefix: "load result", charts: []string{"latency", "load"}},

	// What is written down somewhere, and not a measurement over time.
	{prefix: "benchmarks", text: true},
	{prefix: "build info", text: true},
	{prefix: "release notes", text: true},
	{prefix: "gomaxprocs of the run", text: true},
	{prefix: "affinity", text: true},
	{prefix: "not recorded", text: true},
	{prefix: "go 1.", text: true}, // what a version of Go does

	// What was computed from the facts beside it.
	{prefix: "as the last collection", charts: []string{"heap"}, derived: true},
	{prefix: "as collections", charts: []string{"heap"}, derived: true},
	{prefix: "collections ÷", charts: []string{"gc", "heap"}, lanes: "gc", derived: true},
	{prefix: "what the heap", charts: []string{"heap"}, derived: true},
	{prefix: "(limit", charts: []string{"memory"}, derived: true},
	{prefix: "lower end", charts: []string{"memory", "goroutines"}, derived: true},
	{prefix: "8 kib", charts: []string{"goroutines"}, derived: true},
	{prefix: "waiters of a queue", goroutines: true, state: timeline.Sync, derived: true},
	{prefix: "p ×", goroutines: true, anyState: true, derived: true},
	{prefix: "1.5 × cores", charts: []string{"cpu", "procs"}, derived: true},
	{prefix: "from code", trees: []string{"cpu", "kernel"}, derived: true},
	{prefix: "most of them", trees: []string{"cpu", "kernel"}, derived: true},
}

// kindOf is what a fact's source is; nil when the page does not know it.
func kindOf(source string) *sourceKind { return beginning(sourceKinds, source) }

// beginning is the first kind with whose words a text begins, nil when none does.
func beginning(kinds []sourceKind, text string) *sourceKind {
	text = strings.ToLower(text)
	for i := range kinds {
		if strings.HasPrefix(text, strings.ToLower(kinds[i].prefix)) {
			return &kinds[i]
		}
	}
	return nil
}

// counting is a kind with its trees in the order that suits a fact: a share of all
// objects is to be seen in the tree of objects, not in that of bytes.
func counting(k *sourceKind, fact *fact.Fact) *sourceKind {
	if !strings.Contains(strings.ToLower(fact.Name), "objects") {
		return k
	}
	of := *k
	of.trees = slices.Clone(k.trees)
	slices.SortStableFunc(of.trees, func(a, b string) int {
		return cmp.Compare(objectsFirst(a), objectsFirst(b))
	})
	return &of
}

// objectsFirst orders trees of the heap.
func objectsFirst(tree string) int {
	if strings.HasSuffix(tree, "_objects") {
		return 0
	}
	return 1
}

// mainKind is what a finding rests on most: the first kind of its evidence that
// was measured and not computed, and has a picture if one of them has.
func mainKind(kinds []*sourceKind) *sourceKind {
	main := &sourceKind{}
	for _, k := range slices.Backward(kinds) {
		if k != nil && !k.derived && (!k.text || main.prefix == "" || main.text) {
			main = k
		}
	}
	return main
}

// stateOf is the state that a fact is about: what its source says, or else its
// name, for "goroutine groups" are the source of all states.
func (l *linker) stateOf(k *sourceKind, fact *fact.Fact) stateChoice {
	if !k.anyState || fact == nil {
		return stateChoice{k.state, !k.anyState && k.goroutines}
	}
	n := strings.ToLower(fact.Name)
	for _, w := range []struct {
		word  string
		state timeline.State
	}{
		{"for a p", timeline.Runnable}, {"ready", timeline.Runnable}, {"runnable", timeline.Runnable},
		{"network", timeline.Net}, {"system call", timeline.Syscall}, {"assist", timeline.GC},
		{"blocked", timeline.Sync}, {"wait", timeline.Sync}, {"running", timeline.Running}, {"ran ", timeline.Running},
	} {
		if strings.Contains(n, w.word) {
			return stateChoice{w.state, true}
		}
	}
	return stateChoice{}
}

// A stateChoice is a state, or any.
type stateChoice struct {
	state timeline.State
	one   bool
}
