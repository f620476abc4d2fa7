package whatif

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Program is what a trace did, in a form that can be replayed. It does not
// change after Read: replays may run at the same time.
type Program struct {
	// Procs is GOMAXPROCS, Cores what the kernel had for it; 0 when not known.
	Procs, Cores int
	// Elapsed is the traced time that a replay is compared with: up to the stop
	// of the tracer when the program ends by itself, else until nearly all of
	// the work was done.
	Elapsed time.Duration
	// Ends tells that the program, and not somebody from outside, ended the trace.
	Ends   bool
	Events int
	// Cut tells that only a piece of the trace was read, to bound memory.
	Cut    bool
	Groups []Group
	Locks  []Lock
	// Functions are those with CPU samples, empty when the trace carries none.
	Functions []Function
	GC        time.Duration // work of the collector on Ps, assists included
	Work      time.Duration // all other work on Ps
	// Outside is the share of the replayed time that would remain if all work
	// took nothing: timers, the network, system calls.
	Outside float64

	gs       []goroutine
	tokens   int
	joins    int
	goal     float64       // user work after which a replay of an endless program ends
	goalTime time.Duration // when that was done in the trace
	main     int32         // goroutine whose end is the program's, -1 for endless ones
	locks    []lockModel
	shares   map[string][]float64 // of a function in the running time of each group
	costs    costs
	lost     float64 // share of the trace that could not be read
	base     *Result // without edits
	// baseLives and baseCounts are how long goroutines existed in it, by group.
	baseLives  []float64
	baseCounts []int
	// traced makes all locks granted in the order of the trace.
	traced bool
}

// A Group is the goroutines with one start function.
type Group struct {
	Name   string
	System bool // the runtime's own, the tracer's
	Count  int
	Work   time.Duration // on Ps
	gc     bool          // mark workers
	life   time.Duration // sum over those that lived inside the trace
	lives  int
}

// A Lock is a lock, or several that the same lines take.
type Lock struct {
	Site    string        // the line that waited most, as "main.(*Cache).Get:42"
	File    string        // of the line
	Sites   []string      // all lines that take or release it
	Waits   int           // how often a goroutine waited
	Wait    time.Duration // all of their waits
	Hold    time.Duration // of the holds seen while others waited, the mean
	Holds   int
	longest time.Duration // wait of Site
}

// A Function is a function with its share of the CPU samples.
type Function struct {
	Name  string
	Share float64 // of all samples of goroutines, callees included
}

// A lockModel is how a lock is replayed.
type lockModel struct {
	// traced is set for lines that take several locks, or one that readers
	// share: they are granted in the order of the trace.
	traced bool
}

// A goroutine is a list of what it did.
type goroutine struct {
	ops   []op
	group int32
	// start is the time of a start from outside, in nanoseconds; negative when
	// another goroutine's op starts it.
	start float64
	join  int32 // whose wait ends only after it, plus 1
}

// What a goroutine does. All times are nanoseconds.
type op struct {
	dur  float64
	ref  int32 // token, goroutine, or join
	lock int16 // index in Program.locks
	kind opKind
	part part
}

type opKind uint8

const (
	opRun    opKind = iota // on a P for dur
	opSleep                // off the P for dur: timer, network, system call
	opWait                 // until token ref is there
	opWake                 // gives token ref
	opSwitch               // gives token ref and, with the wait that follows, the P
	opCreate               // starts goroutine ref
	opLock                 // takes lock; token ref is what it waited for in the trace, 0 none
	opUnlock               // releases lock, gives token ref
	opYield                // to the end of the queue
	opJoin                 // until all goroutines of join ref ended
	opDue                  // off the P until the program's work has come to dur
)

// A part says whose account work is on.
type part uint8

const (
	partOwn part = iota
	partAssist
	partSweep
)

// costs are what scheduling took in the trace.
type costs struct {
	change float64 // of a P from one goroutine to the next
	wake   float64 // until an idle P that was woken runs something
}

const noLock = -1

const markWorker = "runtime.gcBgMarkWorker"

// UserGroups returns the program's own groups, those with most work first.
func (p *Program) UserGroups() []Group {
	var list []Group
	for _, g := range p.Groups {
		if !g.System && g.Work > 0 {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b Group) int { return cmp.Compare(b.Work, a.Work) })
	return list
}

func (p *Program) group(name string) int {
	return slices.IndexFunc(p.Groups, func(g Group) bool { return g.Name == name })
}

// lock finds a lock by a line that takes it, or the function of one, when
// only one lock has it.
func (p *Program) lock(site string) (found int, ok bool) {
	found = -1
	for i, l := range p.Locks {
		if slices.Contains(l.Sites, site) {
			return i, true
		}
		if slices.ContainsFunc(l.Sites, func(s string) bool { return s[:strings.LastIndexByte(s, ':')] == site }) {
			if found >= 0 {
				return found, false
			}
			found = i
		}
	}
	return found, found >= 0
}
