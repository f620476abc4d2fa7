package fact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Kind is a way in which a number comes about. The set is closed: whoever
// shows a fact has a line for each of them, and asks the Origin and not its words.
type Kind string

// The kinds, with what of an [Origin] they use.
const (
	// Samples are the stacks of a profile: Tree, Functions, and Share when the
	// value is a part of all. The counted ones are known while the model is.
	Samples Kind = "samples"
	// Waits are entries of the trace's blocking profiles: Tree (the kind of
	// wait), Column (time or count), Functions, Share.
	Waits Kind = "waits"
	// Wakes are edges of the trace's wake-up graph: Functions.
	Wakes Kind = "wakes"
	// Goroutines is a column of the accounts of goroutine groups, Groups and
	// Columns, summed: times by state, how many there were, quantiles of a wait.
	Goroutines Kind = "goroutines"
	// Processors is what the Ps did in the trace: Columns, summed over the Ps.
	Processors Kind = "processors"
	// LoadResults is what a load generator or a benchmark measured, or how many
	// operations the program did: Name.
	LoadResults Kind = "load"
	// Collector is what the trace, or else the log of collections or heap profiles from one to
	// the next, say of the garbage collector: Name.
	Collector Kind = "collector"
	// Timeline is a statistic of the trace's averages over short pieces of the
	// window, or of the lines of the scheduler: Name.
	Timeline Kind = "timeline"
	// Standings are the goroutines of a moment: Columns is goroutines (how many they are),
	// still (how many made no step in the time that was watched) or waited (how long the
	// one that stands longest). The counted ones are known while the model is.
	Standings Kind = "standings"
	// Held is what a look at the heap says of a holder: Name, Names (its kind, and of a step on
	// the way its field and type), Columns; without a name of all that is reached.
	Held Kind = "held"
	// Generations is how the trace itself was written: Name.
	Generations Kind = "generations"
	// Account is the CPU account, which brings samples to what the kernel
	// counted: Columns are its parts.
	Account Kind = "account"
	// Metric is a runtime metric: Name, Fold.
	Metric Kind = "metric"
	// Syscalls are the kernel's counts of system calls: Names, Column.
	Syscalls Kind = "syscalls"
	// Process is a counter of the process: Name, Fold. Machine and Group are the
	// same of the machine and of the control group.
	Process      Kind = "process"
	Machine      Kind = "machine"
	ControlGroup Kind = "control group"
	// Printed is a function's line in a profile that go tool pprof printed:
	// Functions, Columns (flat or cum), Share, and Name, the table's file.
	Printed Kind = "printed profile"
	// Counted is what perf stat or strace counted: Name, the file, Names, and
	// Columns (count, time, errors); or lines of a log (lines, time).
	Counted Kind = "counted"
	// Setting is what was set for the run, or is of the build: Name.
	Setting Kind = "setting"
	// Window is the time that the evidence covers.
	Window Kind = "window"
	// Series is a statistic of what processes sent over hours: Name is the type of it,
	// Columns the statistic, N of how many processes.
	Series Kind = "series"
	// Published is a figure measured elsewhere: Name says where.
	Published Kind = "published"
	// Computed is the result of a formula: Name is the formula's.
	Computed Kind = "computed"
	// Untyped is a fact of a diagnosis saved by an older version, which has words
	// for where it came from and nothing else: Name.
	Untyped Kind = "untyped"
)

// Kinds are all of them.
var Kinds = []Kind{Samples, Waits, Wakes, Goroutines, Processors, LoadResults, Collector, Timeline, Standings, Held, Generations, Account,
	Metric, Syscalls, Process, Machine, ControlGroup, Printed, Counted, Setting, Window, Series, Published, Computed, Untyped}

// A Fold is how a series became one number.
type Fold string

// The folds.
const (
	First  Fold = "first"
	Last   Fold = "last"
	Least  Fold = "least"
	Most   Fold = "most"
	Change Fold = "change" // last less first
	Growth Fold = "growth" // what it rose by: the counters of threads go when they end
	Rate   Fold = "rate"   // change a second
	Trend  Fold = "trend"  // Theil-Sen slope, a second
)

// An Origin is where a measured number comes from. Which fields are set goes by
// the kind.
type Origin struct {
	Kind Kind `json:"kind"`
	// Text says it for people. No code looks into it.
	Text   string       `json:"text"`
	Source model.Source `json:"source,omitempty"` // the evidence that has it
	// N is how many observations are behind the number: samples, waits, calls.
	N int64 `json:"n,omitempty"`

	Tree      string   `json:"tree,omitempty"`      // "cpu", "kernel", "alloc_space", "sync", … as the flame graph has them
	Functions []string `json:"functions,omitempty"` // the frames that were looked for
	Share     bool     `json:"share,omitempty"`     // the value is the part of all of the tree
	Groups    []string `json:"groups,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	Names     []string `json:"names,omitempty"`
	Name      string   `json:"name,omitempty"`
	Fold      Fold     `json:"fold,omitempty"`
	Sentence  string   `json:"sentence,omitempty"` // a formula with its operands' names

	// entries are the samples or waits that were counted, by their index.
	entries []int
}

func (o *Origin) same(p *Origin) bool {
	return o.Kind == p.Kind && o.Source == p.Source && o.Tree == p.Tree && o.Share == p.Share && o.Name == p.Name && o.Fold == p.Fold &&
		slices.Equal(o.Groups, p.Groups) && slices.Equal(o.Columns, p.Columns) && slices.Equal(o.Names, p.Names) && slices.Equal(o.entries, p.entries)
}

// Counts reports whether the i-th sample of the profile, or the i-th wait of the
// trace, is one of those counted.
func (o *Origin) Counts(i int) bool {
	_, ok := slices.BinarySearch(o.entries, i)
	return ok
}

// Words returns the origin of what has nothing but words for where it comes from.
func Words(text string) Origin { return Origin{Kind: Untyped, Text: text, Name: text} }

// String says it in words, for the column beside the number.
func (o Origin) String() string {
	switch {
	case o.Text != "":
		return o.Text
	case o.Kind == Series:
		return o.words() + ", " + figures.Plural(o.N, "process", "processes")
	case o.N > 0:
		return o.words() + ", " + figures.Plural(o.N, o.observation())
	}
	return o.words()
}

var observations = map[Kind]string{Samples: "sample", Account: "sample", Waits: "wait", Wakes: "wake-up", Syscalls: "call"}

// observation names what N counts.
func (o *Origin) observation() string {
	if o.Kind == Samples && (o.Source == model.Heap || o.Source == model.LiveHeap) {
		return "object"
	}
	return cmp.Or(observations[o.Kind], "observation")
}

func (o Origin) words() string {
	switch o.Kind {
	case Samples:
		if o.Fold == First {
			return trees[o.Tree].words + " at the start"
		}
		return trees[o.Tree].words
	case Waits:
		return "trace: " + trees[o.Tree].words
	case Wakes:
		return "trace: wake-ups"
	case Goroutines:
		return "trace: goroutine groups"
	case Processors:
		return "trace: Ps"
	case Collector:
		switch o.Source {
		case model.GCTrace:
			return "gctrace"
		case model.LiveHeap:
			return "heap profile"
		}
		return "trace: collector"
	case Timeline:
		if o.Source == model.SchedTrace {
			return "schedtrace"
		}
		return "trace: timeline"
	case Standings:
		if o.Source == model.GoroutineProfile {
			return "goroutines at one moment"
		}
		return string(o.Source) + ": goroutines at its end"
	case Held:
		return strings.TrimSuffix("look at the heap: "+o.Name, ": ")
	case Generations:
		return "trace: generations"
	case Account:
		if o.Tree == "" {
			return "CPU account: " + o.Name
		}
		return trees[o.Tree].words + " × process CPU time"
	case Metric:
		return "runtime/metrics: " + o.Name
	case Syscalls:
		return "system calls: " + strings.Join(o.Names, ", ")
	case Process:
		return "/proc: process"
	case Machine:
		return "/proc: machine"
	case ControlGroup:
		return "control group"
	case LoadResults:
		if o.Source == model.Trace {
			return "trace: " + o.Name
		}
		return "load result: " + o.Name
	case Window:
		return "recording"
	case Setting:
		return "setting of the run"
	case Printed:
		return "printed profile: " + strings.Join(slices.Concat(o.Columns, o.Functions), " ")
	case Counted:
		return "counted from outside: " + strings.Join(slices.Concat(o.Columns, o.Names), " ")
	case Series:
		return "over time: " + profileWords(o.Name)
	case Published, Untyped:
		return o.Name
	}
	return o.Sentence
}

// A tree is a kind of stacks that has a flame graph.
type tree struct {
	words  string
	source model.Source
	column string // of the profile; "" for waits of a trace
	unit   Unit
}

// trees are those whose parts can be facts.
var trees = map[string]tree{
	"cpu":           {"CPU profile", model.CPU, "cpu", Seconds},
	"wall":          {"wall-clock profile", model.Wall, "wall", Seconds},
	"kernel":        {"kernel's CPU samples", model.KernelCPU, "cpu", Seconds},
	"offcpu":        {"kernel's context switches", model.OffCPU, "offcpu", Seconds},
	"alloc_space":   {"allocs profile", model.Heap, "alloc_space", Bytes},
	"alloc_objects": {"allocs profile", model.Heap, "alloc_objects", Count},
	"inuse_space":   {"heap profile", model.LiveHeap, "inuse_space", Bytes},
	"inuse_objects": {"heap profile", model.LiveHeap, "inuse_objects", Count},
	"goroutine":     {"goroutine profile", model.GoroutineProfile, "goroutine", Count},
	"goroutineleak": {"goroutineleak profile", model.Leak, "goroutineleak", Count},
	"threadcreate":  {"threadcreate profile", model.ThreadCreate, "threadcreate", Count},
	"block":         {"block profile", model.Block, "delay", Seconds},
	"mutex":         {"mutex profile", model.Mutex, "delay", Seconds},
	"sync":          {"waits for other goroutines", model.Trace, "", Seconds},
	"net":           {"waits for the network", model.Trace, "", Seconds},
	"syscall":       {"system calls", model.Trace, "", Seconds},
	"sched":         {"waits for a P", model.Trace, "", Seconds},
	"other":         {"other waits", model.Trace, "", Seconds},
}

// profileWords returns the type of what processes sent in words: of the five parts of Pyroscope's names what was
// counted and in which profiles. Another name stays.
func profileWords(of string) string {
	parts := strings.Split(of, ":")
	if len(parts) != 5 {
		return of
	}
	return parts[1] + " of " + parts[0] + " profiles"
}
