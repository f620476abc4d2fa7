package model

import (
	"slices"
	"strings"
	"time"
)

// A Moment is what every goroutine stood at, at one instant: a dump or a goroutine
// profile, a look from outside, or the end of a trace's window. It answers who
// waits for whom, which sums over time cannot.
type Moment struct {
	// Source is the evidence that it is from.
	Source Source
	// At is when it was, since the window's start; Known is false where nothing tells.
	At    time.Duration
	Known bool
	// Watched is how long before the moment it is known who made no step, 0 when
	// only the moment is known.
	Watched time.Duration
	// Dead is set when the runtime itself found that no goroutine can go on.
	Dead bool
	// Goroutines are those that stand alike, together; the most first.
	Goroutines []Standing
	// Locks are those that somebody waits for.
	Locks []Lock
	// Channels are those that somebody waits to send to, as far as source names them.
	Channels []Channel
	// Absences are what goroutines wait for and nobody who is there could bring.
	Absences []Absence
}

// A Standing is goroutines that stand alike: same stack, same state, same locks.
type Standing struct {
	Count int64
	Stack Stack
	// State is the runtime's word for what they do or wait for, like "chan receive",
	// "sync.Mutex.Lock" or "running", [StateOf] of the stack where the evidence has none.
	State string
	// Waited is the longest that one of them is known to have waited; 0 when not known.
	Waited time.Duration
	// Still is how many of them made no step in the time that was watched.
	Still int64
	// Goroutine is the runtime's number of one of them, 0 when not known.
	Goroutine int64
	// Wants is the lock they wait for, by its place in [Moment.Locks] counted from 1; 0
	// for none.
	Wants int
	// Holds are locks that they hold, as far as source or addresses tell.
	Holds []Holding
	// Sends is the channel they wait to send to, by its place in [Moment.Channels] counted
	// from 1; 0 for none that source names.
	Sends int
	// Serves are channels that they come back to receive from, as source shows it.
	Serves []Serving
	// Lacks is what they wait for that nobody could bring, by its place in
	// [Moment.Absences] counted from 1; 0 where that is not known.
	Lacks int
	// Began is the function at which they began, where their stack is not known; else empty.
	Began string
}

// An Absence is what goroutines wait for while, as source shows, none is in code that
// could bring it, nor in what calls such code.
type Absence struct {
	Kind AbsenceKind
	Name string // of the channel, WaitGroup or condition, like "main.question.reply"
	// By is where code could bring it.
	By []Frame
	// Sure is set when only the function that waits could give it to others.
	Sure bool
}

// An AbsenceKind is what is not there.
type AbsenceKind int

// The kinds.
const (
	LacksAnswer AbsenceKind = iota + 1 // a send to a channel that the one who waits has made
	LacksDone                          // Done of a WaitGroup
	LacksSignal                        // Signal of a condition that is waited for in no loop
	LacksCase                          // any case of a select
)

func (k AbsenceKind) String() string {
	return [...]string{"", "answer", "done", "signal", "case"}[k]
}

// A Channel is one that goroutines wait to send to: by source, all of one name.
type Channel struct {
	Name string // like "main.queue.jobs", or "results of main.report"
	// All is set when no other line of its package receives from anything of that name
	// than those that somebody serves it from.
	All bool
	// Deserted is set when no goroutine is in code that receives from it, nor in what
	// calls such code; From is where that is then.
	Deserted bool
	From     []Frame
	// Slots is set when it is a semaphore: whoever receives from it has sent to it before, in the same
	// function, and throws away what comes.
	Slots bool
}

// A Serving is a channel from which the loop receives in which a goroutine stands.
type Serving struct {
	Channel int   // as [Standing.Sends]
	From    Frame // the line that receives
	Waits   bool  // it stands there
	First   bool  // each turn of the loop begins with it
}

// A Lock is one that goroutines wait for: with an address one value, without one all
// that the same code takes.
type Lock struct {
	Address uint64 // 0 when not known
	Name    string
	Naming  Naming
	// Computes is the line at which most samples of the CPU are that hold a lock of that
	// name, as source shows it, where no goroutine of the moment is seen to.
	Computes Frame
}

// A Naming says what a lock's name is.
type Naming string

// The namings.
const (
	BySource   Naming = "source"   // the lock itself, like "main.cache.mu"
	ByReceiver Naming = "receiver" // the type of whose methods ask for it, like "main.cache"
	ByCaller   Naming = "caller"   // the function that asks for it
	ByOnce     Naming = "once"     // the function that calls Do of a sync.Once
)

// A Holding is a lock that a goroutine holds.
type Holding struct {
	// Lock is as [Standing.Wants].
	Lock int
	// Taken is the frame in which it is held: by source its line is that of the call to
	// Lock, else the one at which the goroutine stands.
	Taken Frame
	// Shared is set for the read side of a reader-writer lock.
	Shared bool
	// Sure is set when source shows it. Addresses and names only make it probable.
	Sure bool
}

// StandingLabels are the labels that samples of a goroutine profile have beside the program's:
// state, minutes waited, and how many made no step while they were watched.
var StandingLabels = []string{"state", "minutes", "still"}

// States that more than one part of gowhy asks for, as the runtime spells them.
const (
	StateRunning  = "running"
	StateRunnable = "runnable"
	StateWaiting  = "waiting" // nothing tells for what
	StateMutex    = "sync.Mutex.Lock"
	StateRLock    = "sync.RWMutex.RLock"
	StateWLock    = "sync.RWMutex.Lock"
)

// WantsLock reports whether a state is that of a goroutine that waits for a lock.
func WantsLock(state string) bool {
	return state == StateMutex || state == StateRLock || state == StateWLock
}

// statesOf are the functions that wait, with the runtime's word for that. Who waits for
// a reader-writer lock may do so in its mutex: the outermost is what was asked for.
var statesOf = map[string]string{
	"runtime.chansend": "chan send", "runtime.chansend1": "chan send",
	"runtime.chanrecv": "chan receive", "runtime.chanrecv1": "chan receive", "runtime.chanrecv2": "chan receive",
	"runtime.selectgo": "select", "runtime.block": "select (no cases)",
	"time.Sleep": "sleep", "runtime.timeSleep": "sleep",
	"runtime.netpollblock": "IO wait", "internal/poll.runtime_pollWait": "IO wait", "internal/poll.(*pollDesc).wait": "IO wait",
	"runtime.semacquire": "semacquire", "runtime.semacquire1": "semacquire", "sync.runtime_Semacquire": "semacquire",
	"internal/poll.runtime_Semacquire": "semacquire", "sync.runtime_SemacquireMutex": "semacquire",
	"sync.(*Mutex).Lock": StateMutex, "sync.(*Mutex).lockSlow": StateMutex,
	"internal/sync.(*Mutex).Lock": StateMutex, "internal/sync.(*Mutex).lockSlow": StateMutex,
	"sync.(*RWMutex).RLock": StateRLock, "sync.(*RWMutex).Lock": StateWLock,
	"sync.runtime_SemacquireRWMutexR": StateRLock, "sync.runtime_SemacquireRWMutex": StateWLock,
	"sync.(*Cond).Wait": "sync.Cond.Wait", "sync.runtime_notifyListWait": "sync.Cond.Wait",
	"sync.(*WaitGroup).Wait": "sync.WaitGroup.Wait",
	"runtime.bgsweep":        "GC sweep wait", "runtime.bgscavenge": "GC scavenge wait",
	"runtime.forcegchelper": "force gc (idle)", "runtime.gcBgMarkWorker": "GC worker (idle)",
	"runtime.runfinq": "finalizer wait", "runtime.runFinalizers": "finalizer wait", "runtime.runCleanups": "cleanup wait",
	"runtime.(*cleanupQueue).dequeue": "cleanup wait",
	"runtime.cgocall":                 "syscall", "runtime.notetsleepg": "syscall", "os/signal.signal_recv": "syscall",
	"syscall.Syscall": "syscall", "syscall.Syscall6": "syscall", "syscall.RawSyscall6": "syscall", "syscall.rawSyscallNoError": "syscall",
	"internal/runtime/syscall.Syscall6": "syscall", "runtime/internal/syscall.Syscall6": "syscall",
	"internal/runtime/syscall/linux.Syscall6": "syscall", "syscall.syscall": "syscall", "syscall.syscall6": "syscall",
}

// StateOf names what a goroutine does or waits for by its stack, leaf first, in the runtime's
// word for it.
func StateOf(frames []Frame) string {
	state := StateRunning
	for i, f := range frames {
		if !waitingFrame(f.Func) {
			break
		}
		if s, ok := statesOf[f.Func]; ok {
			state = s
		} else if i == 0 && f.Func == "runtime.gopark" {
			state = StateWaiting
		}
	}
	return state
}

// waitingFrame reports whether a function may stand between a wait and who asked for it.
func waitingFrame(function string) bool {
	return slices.ContainsFunc([]string{"runtime.", "sync.", "syscall.", "internal/sync.", "internal/poll.", "internal/runtime/", "runtime/internal/", "time.Sleep", "os/signal.signal_recv"},
		func(p string) bool { return strings.HasPrefix(function, p) })
}

// Asker returns the frame that asked for what a stack waits for, by its place; -1 where all
// of it is the runtime's and package sync's. A lock of a program's own, whose Lock calls
// that of one in package sync, asks for those who call it.
func Asker(frames []Frame) int {
	first := slices.IndexFunc(frames, func(f Frame) bool { return !waitingFrame(f.Func) })
	for i := first; i > 0 && i+1 < len(frames) && locks(frames[i].Func); i++ {
		if !locks(frames[i+1].Func) && locks(frames[first-1].Func) {
			return i + 1
		}
	}
	return first
}

// locks reports whether a function is a Lock by its name.
func locks(function string) bool {
	switch function[strings.LastIndexByte(function, '.')+1:] {
	case "Lock", "RLock", "lock":
		return true
	}
	return false
}

// Receiver returns the type that a function is a method of, like "a/b.T" for "a/b.(*T).f";
// empty for others.
func Receiver(function string) string {
	pkg, name := SplitSymbol(function)
	name = AnyTypes(name)
	if rest, ok := strings.CutPrefix(name, "(*"); ok {
		if t, _, ok := strings.Cut(rest, ")."); ok {
			return pkg + "." + t
		}
		return ""
	}
	t, method, ok := strings.Cut(name, ".")
	if !ok || strings.HasPrefix(method, "func") || strings.HasPrefix(method, "gowrap") || strings.HasPrefix(method, "deferwrap") || t == "init" || t == "glob" {
		return ""
	}
	return pkg + "." + t
}
