package model

import "time"

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

// BlockedTotal returns the time blocked for any reason.
func (t Times) BlockedTotal() (d time.Duration) {
	for _, b := range t.Blocked {
		d += b
	}
	return d
}

// Total returns the sum of all parts.
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
	Chains     []Chain     // where operations wait for other goroutines, longest wait first
	Serial     []Serial    // what operations wait for, call after call, longest wait first
	Retries    []Retry     // calls that are made again until there is no error, the most frequent first
	Lives      []Lives     // how long goroutines lived that were seen from begin to end, most of them first
	Handovers  []Handover  // where goroutines wait at a channel for others, longest wait first
	Callers    []Caller    // goroutines that make calls one after the other, longest wait first
	WriteRows  []CallRow   // what goroutines write to connections in a row, most written first
	ReadRows   []CallRow   // what they read at a place in a file in a row, most read first
	// Holding has the locks that the code of a stack holds while it waits or computes, by the source; of those that
	// take long, where others wait for locks.
	Holding map[Stack][]HeldLine
	// Delay is the distribution of single waits for a P, over all goroutines.
	Delay Histogram
	// Slice is the distribution of uninterrupted runs on a P.
	Slice Histogram
	// Threads is the number of OS threads seen.
	Threads int
}

// A HeldLine is a frame of a stack that holds a lock, and the line of its function that took it.
type HeldLine struct{ At, Taken Frame }

// Lives is how long goroutines lived that one function was started with and that were seen from begin to end.
type Lives struct {
	Function    string
	Ended       int64
	First, Last time.Duration // on average, of the third that ended first, and of the third that ended last
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

// Alive returns the number still existing at the end of the window.
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
	// Early is the time of them in the first tenth of the window, of Sync alone: 0 where that
	// is not known.
	Early time.Duration
}

// Ended returns the time of the waits that ended in the window: Count of them. The waits of
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
	Rests     bool          // these are selects that take nothing but the clock and ends, as the source says
	Polls     bool          // between two looks at the same, as the source says
	Loops     bool          // an operation is a round of a goroutine that nobody outside waits for, and the calls are from one line
	Done      int64         // operations that were seen from begin to end and made such calls
	Calls     int64         // in these
	Waited    time.Duration // for the calls
	Expired   int64         // calls that their deadline ended, and no answer
	Lost      time.Duration // in these
	Took      time.Duration // that these operations lasted
}

// AwaitsStream reports whether a function is one in which clients of HTTP/2, gRPC and net/rpc wait for an answer to begin.
func AwaitsStream(function string) bool {
	switch function {
	case "net/http.(*http2ClientConn).roundTrip", "net/http/internal/http2.(*ClientConn).roundTrip", "golang.org/x/net/http2.(*ClientConn).roundTrip",
		"google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader", "google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader",
		"net/rpc.(*Client).Call":
		return true
	}
	return false
}

// A Chain is where operations wait for other goroutines of the program, and what these
// did meanwhile.
type Chain struct {
	Operation Frame         // the program's function that an operation is
	Loops     bool          // a goroutine comes to that wait again and again; an operation is a round
	Own       bool          // the source says that each call or round waits for what it made itself
	Stack     Stack         // where it waits
	Done      int64         // operations that were seen from begin to end and waited there
	Waits     int64         // in these
	Waited    time.Duration // in these waits
	Took      time.Duration // that these operations lasted
	Followed  int64         // waits of all operations
	Peers     int64         // of these, ended by a goroutine that runs the same operation
	PeersTime time.Duration // in those
	Links     []ChainLink   // of these, longest first
}

// A ChainLink is what whoever ends a wait did while it lasted, or somebody for whom that one
// waited in turn.
type ChainLink struct {
	Kind      LinkKind
	Goroutine Frame         // the program's function that it runs, outermost
	Stack     Stack         // where it waited; 0 where it worked
	Gathers   bool          // a select, which others end, too
	Count     int64         // times that it was in that state; of a select, until the clock ended it
	For       int64         // the same, once for each wait of an operation that it is a part of
	Asked     int64         // times that others ended a wait of that goroutine
	Timer     bool          // the source says that the clock starts for what the select waits for
	Time      time.Duration // of those waits
}

// LinkTime returns the time of the links of a kind, or of all.
func (c *Chain) LinkTime(kind LinkKind) (d time.Duration) {
	for i := range c.Links {
		if kind == "" || c.Links[i].Kind == kind {
			d += c.Links[i].Time
		}
	}
	return d
}

// A LinkKind is what a goroutine does that somebody waits for.
type LinkKind string

// The kinds of links.
const (
	LinkRuns    LinkKind = "runs"
	LinkReady   LinkKind = "waits for a P"
	LinkClock   LinkKind = "waits for the clock"
	LinkAnswer  LinkKind = "waits for an answer"
	LinkPeer    LinkKind = "waits for an answer, as one of the operations"
	LinkClient  LinkKind = "waits for a client"
	LinkSyscall LinkKind = "is in a system call"
	LinkOther   LinkKind = "other"
)

// A Handover is a line where goroutines wait at a channel, and the one of those who ended these waits
// whom they waited for longest, beside those who run the same. Waits to receive alone are left out.
type Handover struct {
	Stack  Stack
	Waits  int64         // that another goroutine ended
	Waited time.Duration // in these
	Seen   time.Duration // of the trace

	Giver      Frame         // the program's function that whoever waits runs, outermost
	Sends      bool          // the source says that a select sends there, and gives up after a time
	GaveUp     int64         // waits that the clock ended
	GaveUpTime time.Duration // in these

	Taker     Frame         // the program's function that whoever ended most runs, outermost
	Taken     int64         // waits that it ended
	TakenTime time.Duration // of these
	Idle      time.Duration // that it waited at a channel to be given something
	Lived     time.Duration

	Peers      int           // others who run the same
	PeersWaits int64         // their waits to be given something
	PeersIdle  time.Duration // in these
	PeersLived time.Duration
}

// A Caller is a goroutine that makes calls one after the other, as long as it is seen: twenty
// and more, of which each is a question to another process and the wait for its answer.
type Caller struct {
	ID     int64
	Root   Frame         // the program's function that it runs, outermost
	Stack  Stack         // of the calls that it waits for longest
	Calls  int64         // of all functions
	Most   int64         // of the function of Stack
	Waited time.Duration // for answers to all of them
	// From and To are the begin of the first call of the function of Stack and the end of the last, since the
	// window's start, and MostWaited is how long it waited for these.
	From, To   time.Duration
	MostWaited time.Duration
	Pauses     int64         // waits for anything else: work, other goroutines, time
	Paused     time.Duration // in these
	Took       time.Duration // from when it was first seen, or began, until its end or the last event
	Asked      int64         // waits of other goroutines for a question or a connection meanwhile

	// Held are its waits for an answer, behind a question that it wrote in several pieces, of just the time
	// by which kernels put acknowledgements off, and Wrote is where it wrote the last piece.
	Held     int64
	HeldTime time.Duration
	Wrote    Stack
}

// A Retry is the waits for answers at one place that a loop comes back to until there is no error.
type Retry struct {
	Stack   Stack
	Calls   int64         // in all
	Again   int64         // those that came behind another of the goroutine, a millisecond later at most
	Between time.Duration // in these, from the answer to the next wait
	Loop    Frame         // where the loop calls
}

// A CallRow is system calls of one kind that a line of the program makes, counted in rows: a row is what a
// goroutine calls without a wait in between but for locks and for a peer to take what it writes.
type CallRow struct {
	Stack Stack
	Rows  int64
	Calls int64
}

// A Burst is a place that repeatedly makes many goroutines ready at once:
// one goroutine, within 100 µs, from one stack.
type Burst struct {
	Waker Stack
	Count int64 // how often it happened, with at least MinBurst goroutines
	Woken int64 // goroutines made ready by these bursts
	Max   int   // the largest single one
	// Futile is how many of them ran for less than 20 µs, perhaps once more behind a lock, and then
	// waited again at the place they had been woken from. Only from the MinBurst-th
	// on are the woken known to be many and followed, so that it is at most
	// Woken - (MinBurst-1)·Count: divide by that for a share.
	Futile int64
}

// MinBurst is the smallest number of goroutines that counts as a burst.
const MinBurst = 8
