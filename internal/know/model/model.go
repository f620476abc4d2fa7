// Package model is what a program did, in one shape, whichever evidence said so.
//
// It hides arithmetic: how a second of a goroutine is split between running,
// waiting for a P, blocked and in the kernel; how distributions are kept
// small; how mutator utilization follows from overlapping garbage collector
// work. Its main type is [Model], filled once by the evidence packages and
// then read by rules and reports. A part whose source was not recorded is a
// nil pointer, never a zero that looks like a measurement.
//
// model never reads a file, never looks at the clock, and imports nothing of
// this project.
package model

import (
	"fmt"
	"path"
	"slices"
	"time"
)

// A Model is one run of one program. Fill it once, then only read it.
type Model struct {
	Run    Run
	Stacks Stacks

	Sched *Sched   // goroutines, Ps, waits; needs Trace
	GC    *GC      // collections, pauses, utilization; needs Trace
	Tasks *Tasks   // user tasks, regions and logs; needs Trace
	CPU   *Profile // samples of CPU time; needs CPU (or a trace that carries CPU samples)
	Wall  *Profile // samples of all goroutines, running or waiting; types samples and wall
	Heap  *Profile // allocations, in the run when two profiles or a delta were had, else since the program's start

	LiveHeap     Snapshots // what was in use; types as in Heap
	MemStats     *MemStats // at the end of LiveHeap; only the text of a heap profile has them
	Goroutines   Snapshots // goroutines by stack; one type, count
	Block        *Profile  // delays that ended; types contentions and delay
	Mutex        *Profile  // delays caused, by the stack that caused them; types contentions and delay
	ThreadCreate *Profile  // one type, count
	Leaks        *Profile  // goroutines that can never go on; one type, count
	Moment       *Moment   // what every goroutine stood at, at the last moment that is known

	Metrics   *Metrics    // runtime/metrics
	GCLog     []GCLine    // in order; needs GCTrace
	SchedLog  []SchedLine // in order; needs SchedTrace
	Build     *Build
	Process   *Process
	Machine   *Machine
	Limits    *Limits
	Kernel    *Kernel
	Syscalls  *Syscalls
	Load      *Load
	Escapes   []Escaping // needs Escape
	Tables    []*Table   // needs Printed
	Counts    []*Counts  // needs Counted
	Shortages []Shortage // most lines first; needs ShortageLog
	Reasons   []Reason   // of hot lines whose source was read

	frozen *frozen // nil while it may change
}

// Run says which run this was and how much of it the evidence covers.
type Run struct {
	Go       string        // Go version of the program as its evidence tells it, like "go1.26"
	Start    time.Time     // wall time of the window's start; zero when unknown
	Duration time.Duration // length of the window that the evidence covers
	Procs    int           // GOMAXPROCS at the end of the window; 0 when unknown
	Files    []string      // what was read, for the reader of a report
	Coverage Coverage

	// What the recording tells of itself; zero for loose files.
	Recording string // its name among Files, as given; empty when it was read from a stream
	PID       int
	// Command, Dir and Env are what it takes to run the program once more:
	// command line, working directory, and the variables of its environment
	// that the runtime obeys, as far as known.
	Command []string
	Dir     string
	Env     []string
	Fixed   []string // arguments with which a demonstration runs without its problem
	// URL is where a program was recorded that somebody else had started.
	URL      string
	Rates    *Rates // nil when not known
	Overhead *Overhead
	Refused  []Refusal // asked for and not had
	Untold   bool      // the program told nothing of itself: it has neither handlers nor the agent
	Killed   *Kill     // nil when it was not, or nobody saw it
	Death    *Death    // nil unless the evidence is what a program left that died
}

// A Kill is the kernel's of a program, for want of memory.
type Kill struct {
	At    time.Time
	Limit uint64 // of its control group, in bytes; 0 when the machine had no memory left
}

// A Death is how a program ended.
type Death struct {
	Signal string // like SIGABRT, which the runtime sends itself after a panic
	Addr   uint64 // of a fault; 0 else
	Words  string // the runtime's last, like "panic: …"; empty where nothing tells
	// Where in the program; empty where nothing tells.
	Func, File string
	Line       int
}

// String says it in one line.
func (d *Death) String() string {
	s := "died of " + d.Signal
	if d.Addr != 0 {
		s += fmt.Sprintf(" at address %#x", d.Addr)
	}
	if d.Words != "" {
		s += ": " + d.Words
	}
	if d.Func != "" {
		s += fmt.Sprintf(", in %s (%s:%d)", d.Func, path.Base(d.File), d.Line)
	}
	return s
}

// Rates are the sampling rates that were in force; negative when not known.
type Rates struct {
	Block time.Duration // as runtime.SetBlockProfileRate; 0 is off
	Mutex int           // as runtime.SetMutexProfileFraction; 0 is off
	Mem   int           // runtime.MemProfileRate: bytes between samples
}

// Overhead is what the recording itself took.
type Overhead struct {
	Recorder time.Duration // CPU time of the recorder
	// Target is the program's CPU time in Wall of recording, Before in
	// BeforeWall just before it; all 0 when not measured.
	Target, Wall       time.Duration
	Before, BeforeWall time.Duration
}

// A Refusal is evidence that was asked for and could not be had.
type Refusal struct{ Source, Why string }

// Coverage says how much of the evidence could be read. Every number of a
// model is only as good as this.
type Coverage struct {
	Bytes       int64 // size of the trace
	LostBytes   int64 // bytes that no event was read from
	Events      int64 // events read
	LostEvents  int64 // estimated from LostBytes and the mean size of those read
	Generations int   // generations read, in whole or in part
	Damaged     int   // generations that lost something or were forced
	Forced      int64 // transitions taken although their precondition was never seen
	Lost        time.Duration
	// Unknown is goroutine time that no state can be given with certainty.
	Unknown time.Duration
	// Overlap is the time by which generations of the trace run into each
	// other: the tracer itself waited for a CPU. MaxOverlap is the worst single one.
	Overlap    time.Duration
	MaxOverlap time.Duration
	Notes      []string // what was lost or skipped, in words
}

// Stack identifies a call stack in [Stacks]; 0 is "no stack".
type Stack int32

// A Frame is one function of a call stack.
type Frame struct {
	PC   uint64
	Func string
	File string
	Line int
}

// Stacks is a table of call stacks. The zero table holds only stack 0.
type Stacks struct{ list [][]Frame }

// Add appends a stack, leaf first, and returns its identity. It does not
// look for an equal one; interning is the reader's work.
func (s *Stacks) Add(frames []Frame) Stack {
	if len(s.list) == 0 {
		s.list = append(s.list, nil)
	}
	s.list = append(s.list, frames)
	return Stack(len(s.list) - 1)
}

// Frames returns the frames of a stack, leaf first; nil for an unknown one.
func (s *Stacks) Frames(id Stack) []Frame {
	if id < 0 || int(id) >= len(s.list) {
		return nil
	}
	return s.list[id]
}

// Len returns the number of identities given out, stack 0 included.
func (s *Stacks) Len() int { return max(1, len(s.list)) }

// Times is how goroutine time was spent. The parts do not overlap and add up
// to the time that the goroutines existed inside the window.
type Times struct {
	Running        time.Duration            // on a P. Occupancy: the OS may have taken the CPU away meanwhile
	Runnable       time.Duration            // ready, waiting for a P
	Syscall        time.Duration            // in a system call or cgo, still holding its P
	SyscallBlocked time.Duration            // in a system call or cgo after the P was taken away
	Unknown        time.Duration            // existed, state not known
	Blocked        map[string]time.Duration // by the runtime's wait reason; "" when it began before anything was recorded
}

// BlockedTotal is the time blocked for any reason.
func (t Times) BlockedTotal() (d time.Duration) {
	for _, b := range t.Blocked {
		d += b
	}
	return d
}

// Total is the sum of all parts.
func (t Times) Total() time.Duration {
	return t.Running + t.Runnable + t.Syscall + t.SyscallBlocked + t.Unknown + t.BlockedTotal()
}

// Add accumulates o into t.
func (t *Times) Add(o Times) {
	t.Running += o.Running
	t.Runnable += o.Runnable
	t.Syscall += o.Syscall
	t.SyscallBlocked += o.SyscallBlocked
	t.Unknown += o.Unknown
	if t.Blocked == nil && len(o.Blocked) > 0 {
		t.Blocked = make(map[string]time.Duration, len(o.Blocked))
	}
	for r, d := range o.Blocked {
		t.Blocked[r] += d
	}
}

// Sched is what goroutines and Ps did.
type Sched struct {
	Groups     []Group     // by start function, largest Total first
	Goroutines []Goroutine // individuals that were kept: all of them or the heaviest of each group
	AllKept    bool        // Goroutines holds every goroutine of the window
	Procs      []Proc      // by id
	Timeline   []Bucket    // in time order, without gaps
	Waits      []Wait      // the blocking profiles, largest Total first
	Wakes      []Wake      // who unblocked whom, most frequent first
	Bursts     []Burst     // many goroutines made ready at once from one place
	Serial     []Serial    // what operations wait for, call after call, longest wait first
	// Delay is the distribution of single waits for a P, over all goroutines.
	Delay Histogram
	// Slice is the distribution of uninterrupted runs on a P.
	Slice Histogram
	// Threads is the number of OS threads seen.
	Threads int
}

// A Group is all goroutines started by one function.
type Group struct {
	Name    string // the start function; "" when no evidence names it
	System  bool   // started by the runtime itself
	Start   Frame  // its first line, as far as known
	Creator Stack  // where most of them were created; 0 when none was created in the window

	Count   int // goroutines that existed at any time in the window
	Created int // of those, created inside it
	Ended   int // of those, ended inside it
	Peak    int // upper estimate of the largest number alive at once
	Times
	Ranges map[string]time.Duration // time in special ranges: "GC mark assist", "GC incremental sweep", "stop-the-world (…)"

	Runs        int64     // times one of them started to run
	Delay       Histogram // single waits for a P
	RunningEach Histogram // on-P time of each goroutine, whole life
	Life        Histogram // lifetimes of those that ended
}

// Alive is the number still existing at the end of the window.
func (g *Group) Alive() int { return g.Count - g.Ended }

// A Goroutine is one goroutine's account.
type Goroutine struct {
	ID      int64
	Group   string
	Created time.Duration // since the window's start; negative when it existed before
	First   time.Duration // first run; negative when it never ran
	Ended   time.Duration // negative when it still existed at the end
	Runs    int64
	Times
	Ranges map[string]time.Duration
}

// A Proc is one P's account. The parts do not overlap and add up to the
// window (less the time before the P existed).
type Proc struct {
	ID        int
	User      time.Duration // running goroutines, garbage collector workers left out
	GC        time.Duration // running dedicated and fractional mark workers
	GCIdle    time.Duration // running idle-priority mark workers: time nobody else wanted
	Syscall   time.Duration // its goroutine is in a system call
	Scheduler time.Duration // held by a thread without a goroutine: looking for work
	Idle      time.Duration // held by no thread
	Unknown   time.Duration
	Starts    int64 // times a thread took it from idle
}

// A Bucket is a short piece of the window. The numbers are averages over it.
type Bucket struct {
	Start, Width time.Duration
	Running      float64 // Ps with a running goroutine
	Held         float64 // Ps held by a thread, running, in a syscall or looking for work
	Runnable     float64 // goroutines waiting for a P
}

// WaitKind is one of the four blocking profiles, as the reference tool names
// them, and those waits that belong to none.
type WaitKind string

// The kinds of wait.
const (
	Net         WaitKind = "net"     // reason "network"
	Sync        WaitKind = "sync"    // channels, select, mutexes, condition variables
	SyscallWait WaitKind = "syscall" // in a system call, P held or not
	SchedWait   WaitKind = "sched"   // ready, waiting for a P
	OtherWait   WaitKind = "other"   // sleep, GC, forever
)

// A Wait is one entry of the blocking profiles: goroutines of one group that
// waited for one reason at one place. For SchedWait the stack is that of
// whoever made the goroutine ready.
type Wait struct {
	Kind   WaitKind
	Reason string // the runtime's word; "" for SyscallWait and SchedWait
	Stack  Stack
	Group  string
	// Count is how many ended in the window; one that had begun before it counts with
	// its time in it.
	Count int64
	// Open is how many more went on when the window ended, and Parked how many of these
	// had begun before it. Those of SyscallWait and SchedWait are not counted.
	Open, Parked int64
	// Total is the time in the window of all of them, and OpenTotal that of the open.
	Total, OpenTotal time.Duration
}

// Ended is the time of the waits that ended in the window: Count of them. The waits of
// goroutines at leisure are mostly open, and they do not show what those of others take.
func (w *Wait) Ended() time.Duration { return w.Total - w.OpenTotal }

// A Wake is an edge of the wake-up graph: Count times, code at Waker ended a
// wait that had begun at Woken.
type Wake struct {
	Waker, Woken Stack
	Count        int64
}

// A Serial is the calls in one function that operations of one kind wait for, one after the
// other: requests to another process, or sleeps. An operation is what a goroutine of a
// server does between two waits for its client, or all that a goroutine does that ends.
type Serial struct {
	Operation Frame         // the program's function that an operation is
	Stack     Stack         // of the call that took longest in all
	Sleeps    bool          // the calls are sleeps
	Done      int64         // operations that were seen from begin to end and made such calls
	Calls     int64         // in these
	Waited    time.Duration // for the calls
	Took      time.Duration // that these operations lasted
}

// A Burst is a place that repeatedly makes many goroutines ready at once:
// one goroutine, within 100 µs, from one stack.
type Burst struct {
	Waker Stack
	Count int64 // how often it happened, with at least MinBurst goroutines
	Woken int64 // goroutines made ready by these bursts
	Max   int   // the largest single one
	// Futile is how many of them ran for less than 20 µs and then waited
	// again at the place they had been woken from. Only from the MinBurst-th
	// on are the woken known to be many and followed, so that it is at most
	// Woken - (MinBurst-1)·Count: divide by that for a share.
	Futile int64
}

// MinBurst is the smallest number of goroutines that counts as a burst.
const MinBurst = 8

// GC is what the garbage collector did.
type GC struct {
	Cycles []Cycle
	Heap   []HeapSample
	Pauses []Pause
	// Load is every change of the collector's load on the Ps, in time order.
	// [GC.Utilization] is computed from it.
	Load []LoadChange
}

// A Cycle is one collection, from begin to end of marking.
type Cycle struct {
	Seq        uint64
	Begin, End time.Duration // negative when outside the window
}

// A HeapSample is the live heap and its goal at one moment. A field that did
// not change repeats its last value; 0 when not yet known.
type HeapSample struct {
	At          time.Duration
	Alloc, Goal uint64 // bytes
}

// A Pause is one stop-the-world.
type Pause struct {
	Kind     string // the runtime's word, like "GC mark termination"
	At       time.Duration
	Duration time.Duration
	Stack    Stack
}

// LoadKind is a way in which the collector keeps mutators from running.
type LoadKind uint8

// The kinds of load, in the order of the reference tool's flags.
const (
	LoadSTW        LoadKind = iota // all Ps stopped
	LoadBackground                 // a dedicated or fractional mark worker runs on the P
	LoadAssist                     // a goroutine in mark assist runs on the P
	LoadSweep                      // the P sweeps
	LoadProcs                      // not a load: GOMAXPROCS became Delta
)

// A LoadChange is the begin (+1) or end (-1) of one load on one P.
type LoadChange struct {
	At        time.Duration
	Proc      int32 // -1 for LoadSTW and LoadProcs
	Kind      LoadKind
	Dedicated bool // LoadBackground by a dedicated worker
	Delta     int32
}

// Tasks holds user annotations of runtime/trace.
type Tasks struct {
	Tasks   []TaskType
	Regions []RegionType
	Logs    []LogCount
	// Slow holds the slowest tasks of each type, slowest first.
	Slow []Task
}

// A TaskType is all user tasks of one name.
type TaskType struct {
	Name     string
	Count    int64     // seen in the window
	Complete int64     // begun and ended in it
	Latency  Histogram // of the complete ones
}

// A Task is one user task.
type Task struct {
	ID, Parent uint64
	Name       string
	Begin, End time.Duration // negative when outside the window
	Logs       int64
}

// A RegionType is all user regions of one name.
type RegionType struct {
	Name    string
	Count   int64 // ended in the window
	Open    int64 // begun, not ended
	Latency Histogram
	Times   // what its goroutines did inside
}

// A LogCount is how often a category was logged.
type LogCount struct {
	Category string
	Count    int64
	Example  string
}

// A Profile is a sampled profile with its sample types, as pprof has them.
type Profile struct {
	Types   []ValueType
	Samples []Sample
	// Duration is the time over which it was taken; 0 when unknown.
	Duration time.Duration
	// FromTrace is set when the samples were carried by the execution trace.
	FromTrace bool
	// At is when it was taken or, with a Duration, when that began, since the
	// window's start; may be negative. Known is false where the profile does not say.
	At    time.Duration
	Known bool
}

// Snapshots are two profiles of a state, at the start and at the end of a run.
// Only End is there when one was taken.
type Snapshots struct{ Start, End *Profile }

// A ValueType names one column of a profile, like {"cpu", "nanoseconds"}.
type ValueType struct{ Name, Unit string }

// A Sample is one stack with a value for each type.
type Sample struct {
	Stack  Stack
	Values []int64
	Group  string            // start function of the goroutine, when known
	Labels map[string]string // pprof labels, when any
}

// Column is the index of the type of that name, -1 when it has none.
func (p *Profile) Column(name string) int {
	return slices.IndexFunc(p.Types, func(t ValueType) bool { return t.Name == name })
}

// Value is a column of the sample, 0 where it has none.
func (s *Sample) Value(column int) float64 {
	if column < 0 || column >= len(s.Values) {
		return 0
	}
	return float64(s.Values[column])
}

// InUse is the profile that says what was in use at the end, nil without one: a
// heap profile, or else a profile of all allocations since the start, which has that
// beside it. One of a window has there by how much it grew.
func (m *Model) InUse() *Profile {
	if m.LiveHeap.End == nil && m.Heap != nil && m.Heap.Duration == 0 {
		return m.Heap
	}
	return m.LiveHeap.End
}
