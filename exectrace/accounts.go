package exectrace

import (
	"strings"
	"time"
)

// A Time is nanoseconds on the trace's clock. Only differences mean something
// until [Info.Clock] ties it to a wall clock.
type Time int64

// Options say how [Trace.Account] works. The zero value is what most want.
type Options struct {
	// Workers is how many generations are read at the same time; 0 means
	// GOMAXPROCS.
	Workers int
	// Window restricts the accounts to a piece of the trace; the zero range
	// is the whole. Everything is clipped to it.
	Window Range
	// Keep is how many individual goroutines are kept of each group: the
	// longest running and the longest waiting. 0 means 8, negative all.
	Keep int
	// Sweeps notes every sweep in Accounts.Load, for utilization that counts
	// them. A program that allocates much has a million in a second.
	Sweeps bool
	// Piece, if set, gets what happened in each generation, in their order; see
	// [Trace.Pieces]. One that uses [Piece.Take] lets the next be read meanwhile. With
	// a Window it is clipped to that.
	Piece func(*Piece)
	// BarePieces leaves out of pieces what only details need, as Bare of
	// [PieceOptions] does.
	BarePieces bool
	// Progress, if set, is called now and then with the bytes read so far and
	// the size of the trace (0 when not known).
	Progress func(read, size int64)

	wish pieceWish // of Pieces
}

// A Range is a half-open piece of time, [From, To). The zero Range is everything.
type Range struct{ From, To Time }

// IsZero reports whether r is the whole trace.
func (r Range) IsZero() bool { return r == Range{} }

// A Stack identifies a call stack in [Accounts.Stacks]; 0 is none.
type Stack int32

// A Frame is one function of a call stack.
type Frame struct {
	PC   uint64
	Func string
	File string
	Line int
}

// A State is what a goroutine is doing.
type State uint8

// The states of a goroutine.
const (
	Unknown        State = iota // not known, or not certain
	Running                     // on a P
	Runnable                    // ready, waiting for a P
	Waiting                     // blocked; the reason tells why
	Syscall                     // in a system call or cgo, P held
	SyscallBlocked              // in a system call or cgo, P lost
	Dead                        // ended or not yet created
)

// Times are durations by state. They add up to the time of existence.
type Times struct {
	Running, Runnable, Syscall, SyscallBlocked, Unknown time.Duration
	Blocked                                             []ReasonTime // by reason, in no order
}

// A ReasonTime is time with its cause: a wait reason or a kind of range.
type ReasonTime struct {
	Reason string
	Total  time.Duration
}

// Accounts is what happened in a trace, summed up.
type Accounts struct {
	Info   Info
	Window Range // what the accounts cover

	Stacks [][]Frame // leaf first, by Stack; Stacks[0] is nil

	Groups     []Group
	Goroutines []Goroutine // those kept
	AllKept    bool
	Procs      []Proc
	Buckets    []Bucket
	Waits      []Wait
	Wakes      []Wake
	Bursts     []Burst
	Last       []Standing
	Delay      Histogram // single waits for a P
	Slice      Histogram // single runs on a P
	Threads    int

	Cycles []Cycle
	Heap   []HeapSample
	Pauses []Pause
	Load   []LoadChange

	Tasks   []TaskType
	Slow    []Task // the slowest of each type
	Regions []RegionType
	Logs    []LogCount

	Samples      []SampleCount // CPU samples carried by the trace
	SamplePeriod time.Duration // of CPU time; 0 when there are none
}

// A Group is all goroutines with one start function.
type Group struct {
	Name    string // start function; "" when no stack names it
	Start   Frame
	Creator Stack // the most frequent creating stack
	Count   int   // goroutines that existed in the window
	Created int   // in the window
	Ended   int   // in the window
	Peak    int   // upper estimate of those alive at once: exact to a generation
	Times
	Ranges      []ReasonTime
	Runs        int64
	Delay       Histogram // single waits for a P
	RunningEach Histogram // whole on-P time of each goroutine
	Life        Histogram // lifetimes of those created and ended in the window
}

// IsSystem reports whether a goroutine's start function is the runtime's own, the
// tracer's and the profiler's included: what they do is not what the program is for.
// The main goroutine and the coroutines of iter.Pull run the program's code.
func IsSystem(start string) bool {
	return start != "runtime.main" && start != "runtime.corostart" && strings.HasPrefix(start, "runtime.") ||
		strings.HasPrefix(start, "runtime/trace.") || strings.HasPrefix(start, "runtime/pprof.")
}

// A Goroutine is the account of one goroutine. Ids can be used again after cgo callbacks; each life
// is an account of its own.
type Goroutine struct {
	ID      int64
	Group   int  // index in Accounts.Groups
	Created Time // 0 when before the window
	First   Time // of running; 0 when it never ran in the window
	Ended   Time // 0 when it did not end in the window
	Runs    int64
	Times
	Ranges []ReasonTime
}

// A Proc is the account of one P.
type Proc struct {
	ID                                                  int
	User, GC, GCIdle, Syscall, Scheduler, Idle, Unknown time.Duration
	Starts                                              int64
}

// A Bucket is a short piece of the window: integrals of goroutines and Ps over it.
type Bucket struct {
	From     Time
	Width    time.Duration
	Running  time.Duration // P-time with a running goroutine
	Held     time.Duration // P-time held by a thread
	Runnable time.Duration // goroutine-time waiting for a P
}

// A Wait is an entry of the blocking profiles. For State Runnable the stack
// is that of whoever made the goroutine ready.
type Wait struct {
	State  State  // Runnable, Waiting, Syscall
	Reason string // for Waiting
	Stack  Stack
	Group  int // index in Accounts.Groups; -1 when not known
	// Count is how many ended in the window. One that had begun before it counts
	// with its time in it.
	Count int64
	// Open is how many more, of State Waiting, went on when the window ended, and
	// Parked how many of these had begun before it: they fill it.
	Open, Parked int64
	// Total is the time in the window of all of them, and OpenTotal that of the open.
	Total, OpenTotal time.Duration
}

// A Standing is goroutines that stood alike when the window ended: in one state, at one
// place. Where they run, or run to, is not known.
type Standing struct {
	State  State
	Reason string // for Waiting
	Stack  Stack  // where they wait, waited before they were made ready, or called the system
	Group  int    // index in Accounts.Groups; -1 when not known
	Count  int64
	// Still is how many of them stood so when the window began.
	Still int64
	// Longest is for how long one of them has, in the window.
	Longest time.Duration
}

// A Wake is an edge of the wake-up graph, by stack.
type Wake struct {
	Waker, Woken Stack
	Count        int64
}

// A Burst is a place where one goroutine made at least 8 others ready within 100 µs, on one
// thread. Many that run one after the other and wake one each are none.
type Burst struct {
	Waker Stack
	Count int64
	Woken int64
	Max   int
	// Futile is how many of the woken ran less than 20 µs, waited for a lock at most and ran as short again,
	// and then waited at the same place.
	Futile int64
}

// A Cycle is one garbage collection; a Time of 0 is outside the trace.
type Cycle struct {
	Seq        uint64
	Begin, End Time
}

// A HeapSample is the heap in use and its goal.
type HeapSample struct {
	At          Time
	Alloc, Goal uint64
}

// A Pause is one stop-the-world.
type Pause struct {
	Kind       string
	Begin, End Time
	Stack      Stack
}

// A LoadKind is a way in which the collector takes Ps from the program.
type LoadKind uint8

// The kinds of load.
const (
	LoadSTW LoadKind = iota // the collector's own; [Accounts.Pauses] has all
	LoadBackground
	LoadAssist
	LoadSweep
	LoadProcs // GOMAXPROCS became Delta
)

// A LoadChange is one step of the collector's load, in time order.
type LoadChange struct {
	At        Time
	Proc      int32 // -1 where it is all of them
	Kind      LoadKind
	Dedicated bool
	Delta     int32
}

// A TaskType is all tasks of one name.
type TaskType struct {
	Name     string
	Count    int64
	Complete int64
	Latency  Histogram
}

// A Task is one user task; a Time of 0 is outside the trace.
type Task struct {
	ID, Parent uint64
	Name       string
	Begin, End Time
	Logs       int64
}

// A RegionType is all regions of one name.
type RegionType struct {
	Name    string
	Count   int64
	Open    int64
	Latency Histogram
	Times
}

// A LogCount is how often a category was logged, with one example.
type LogCount struct {
	Category string
	Count    int64
	Example  string
}

// A SampleCount is the number of CPU samples with one stack.
type SampleCount struct {
	Stack Stack
	Group int // -1 when not known
	Count int64
}

// Info is what is known of a trace as a whole.
type Info struct {
	Version     string // of the format, like "go1.26"; "go1.25" writes its own, 1.24 writes "go1.23"
	Size        int64  // bytes; of a stream, those read
	Start, End  Time   // of the first and last event
	Procs       int    // GOMAXPROCS, the last seen
	Generations []Generation
	Clock       Clock
	Damage      Damage
}

// A Clock ties the trace's time to the wall clock; zero before Go 1.25.
type Clock struct {
	At   Time
	Mono uint64 // nanoseconds of the monotonic clock
	Wall time.Time
}

// A Generation is a piece of a trace, about a second, that can be read alone.
type Generation struct {
	Number     uint64
	Offset     int64 // of its first byte
	Bytes      int64
	Batches    int
	Threads    int
	Start, End Time          // End is exact after Account, before it that of the last batch's begin
	Events     int64         // 0 before Account
	Overlap    time.Duration // by which it runs into the next one
	Forced     int64
	LostBytes  int64
	// Trusted is false when what the generation says about states had to be
	// given up: its time is unknown in all accounts.
	Trusted bool
}

// Damage is what could not be read. All zero for a whole trace.
type Damage struct {
	LostBytes  int64
	LostEvents int64 // estimated from the mean size of an event
	LostTime   time.Duration
	Forced     int64    // transitions taken without their precondition
	Missing    int      // generations that are not there
	Notes      []string // in words
}
