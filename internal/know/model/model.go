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

	LiveHeap     Snapshots  // what was in use; types as in Heap
	HeapCourse   []*Profile // what was in use at moments of the run, the oldest first; each has its time
	MemStats     *MemStats  // at the end of LiveHeap; only the text of a heap profile has them
	Goroutines   Snapshots  // goroutines by stack; one type, count
	Block        *Profile   // delays that ended; types contentions and delay
	Mutex        *Profile   // delays caused, by the stack that caused them; types contentions and delay
	ThreadCreate *Profile   // one type, count
	Leaks        *Profile   // goroutines that can never go on; one type, count
	Moment       *Moment    // what every goroutine stood at, at the last moment that is known

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
	Setters   []Setter   // of the runtime's settings, as the main module's source has them
	Releases  []Release  // of modules of hot functions

	frozen *frozen // nil while it may change
}
