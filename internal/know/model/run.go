package model

import (
	"cmp"
	"fmt"
	"path"
	"time"
)

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
	Ended    bool      // it ended by itself, without a signal
	Killed   *Kill     // nil when it was not, or nobody saw it
	Death    *Death    // nil unless the evidence is what a program left that died
	// Holders are one or two looks at who holds the heap, in the order of time; the second has
	// by how much each grew.
	Holders []*HeapLook
}

// A Kill is the kernel's of a program, for want of memory.
type Kill struct {
	At    time.Time
	Limit uint64 // of its control group, in bytes; 0 when the machine had no memory left
	// Words say it, and how old the evidence was then: "was killed at 12:03:11 by the memory limit, …".
	Words string
}

// Ending says how the program ended, in one line, where it was killed for want of memory or died;
// empty where it did not.
func (r *Run) Ending() string {
	switch {
	case r.Killed != nil:
		return cmp.Or(r.Killed.Words, "was killed for want of memory")
	case r.Death != nil:
		return r.Death.String()
	}
	return ""
}

// A Death is how a program ended.
type Death struct {
	Signal string // like SIGABRT, which the runtime sends itself after a panic; empty where only its words are known
	Addr   uint64 // of a fault; 0 else
	Words  string // the runtime's last, like "panic: …"; empty where nothing tells
	// Where in the program; empty where nothing tells.
	Func, File string
	Line       int
}

// String says it in one line.
func (d *Death) String() string {
	s := "died"
	if d.Signal != "" {
		s += " of " + d.Signal
	}
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
type Refusal struct {
	Member string // of the recording
	Source Source // that it would have been; "" where it is none by itself
	Why    string
}

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
