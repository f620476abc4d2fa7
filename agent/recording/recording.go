// Package recording is the file in which the evidence of one run is kept
// together: the execution trace, profiles, and what is known of the run.
//
// It hides the container: a zip archive whose members are stored, so that
// standard tools open it and a trace inside is read in place; the order of
// members; how several sources are written at once; and how a file that was
// cut short is still read. Its types are [Writer] for files, [Stream] for
// connections, [Recording] and [Manifest].
//
// recording never interprets a member, never takes a member's name for a
// path, and imports nothing of this project.
package recording

import (
	"errors"
	"time"
)

// Schema is the version of [Manifest].
const Schema = 1

// The members that gowhy writes and knows. Those that end in .pb.gz are in
// pprof's format; "-start" and "-end" are snapshots at the ends of the run.
const (
	TraceMember          = "trace"
	CPUMember            = "cpu.pb.gz"
	AllocsMember         = "allocs.pb.gz"
	HeapStartMember      = "heap-start.pb.gz"
	HeapEndMember        = "heap-end.pb.gz"
	HeapCourseMember     = "heap-course.pb.gz" // what was in use at moments between
	BlockMember          = "block.pb.gz"
	MutexMember          = "mutex.pb.gz"
	GoroutineStartMember = "goroutine-start.pb.gz"
	GoroutineEndMember   = "goroutine-end.pb.gz"
	WallMember           = "wall.pb.gz" // time of all goroutines, running or waiting
	ThreadCreateMember   = "threadcreate.pb.gz"
	LeakMember           = "goroutineleak.pb.gz"
	MetricsMember        = "metrics.jsonl"
	GCTraceMember        = "gctrace.log"
	SchedTraceMember     = "schedtrace.log"
	BuildMember          = "build.txt"    // as go version -m prints it
	ProcMember           = "proc.jsonl"   // counters of the process, its threads, its control group, the machine
	KernelMember         = "kernel.pb.gz" // on-CPU samples
	KernelTimesMember    = "kernel.jsonl" // when each of them was taken
	OffCPUMember         = "offcpu.pb.gz" // context switches
	SyscallsMember       = "syscalls.json"
	HoldersMember        = "holders.json" // who holds the heap: types, names and sizes
	LoadMember           = "load"         // the load generator's own output, whatever its format
	StdoutMember         = "stdout.log"
	StderrMember         = "stderr.log"

	ManifestMember = "manifest.json"
)

// A Manifest tells which run a recording is of.
type Manifest struct {
	Schema int       `json:"schema"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Go     string    `json:"go,omitempty"`         // the program's Go version, like "go1.26.1"
	Procs  int       `json:"gomaxprocs,omitempty"` // 0 when not known
	PID    int       `json:"pid,omitempty"`
	// Command, Dir and Env are what it takes to run the program once more: its
	// command line, its working directory,
	// and those variables of its environment that the Go runtime obeys (GODEBUG,
	// GOGC, GOMAXPROCS, GOMEMLIMIT). Each is empty when it is not known, as in
	// recordings of programs elsewhere, redacted ones and older ones.
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`
	Env     []string `json:"env,omitempty"`
	// Fixed are arguments that, at the end of Command, run the program with its
	// problem fixed, as demonstrations know it. The problem is found without them.
	Fixed   []string  `json:"fixed,omitempty"`
	URL     string    `json:"url,omitempty"` // where it was fetched from
	Clock   []Anchor  `json:"clock,omitempty"`
	Rates   *Rates    `json:"rates,omitempty"`
	Asked   []string  `json:"asked,omitempty"`   // members that were asked for
	Refused []Refusal `json:"refused,omitempty"` // what was asked for and not had
	Cost    *Cost     `json:"cost,omitempty"`
	// Redacted is set when command line, working directory, environment, log
	// lines and labels were left out, but for those in the members named in Unredacted.
	Redacted   bool     `json:"redacted,omitempty"`
	Unredacted []string `json:"unredacted,omitempty"`
	// Event is why the recording was made by itself.
	Event *Event `json:"event,omitempty"`
	// Ended is how the program ended, where somebody watched it until then.
	Ended *Ending `json:"ended,omitempty"`
}

// An Event is what a watching program noticed, or who watches one from outside.
type Event struct {
	Kind  string    `json:"kind"`           // "cpu", "goroutines", "heap", "memory", "latency" or "task"
	Task  string    `json:"task,omitempty"` // the slow task's name
	Of    string    `json:"of,omitempty"`   // of "memory": what limits it, like "memory.max"
	Time  time.Time `json:"time"`
	Value float64   `json:"value"` // as measured: a share, a count, bytes, or seconds
	// Limit is what the value went over, in the same unit; of "memory" what it came near to.
	Limit float64 `json:"limit"`
}

// The kinds of an [Ending].
const (
	EndedByExit   = "exit"   // by itself
	EndedBySignal = "signal" // of somebody, or of its own fault
	EndedByMemory = "memory" // the kernel killed it for want of memory
)

// An Ending is how a program ended.
type Ending struct {
	Kind string    `json:"kind"` // empty when not known
	Time time.Time `json:"time"`
	Code int       `json:"code,omitempty"` // its exit status, or the signal's number
	// Of and Limit are the limit under which no memory was left, in bytes; empty when the
	// whole machine had none.
	Of    string `json:"of,omitempty"`
	Limit uint64 `json:"limit,omitempty"`
}

// An Anchor ties clocks together: the same moment by the wall clock and by
// CLOCK_MONOTONIC, which the kernel's evidence uses.
type Anchor struct {
	Wall      time.Time `json:"wall"`
	Monotonic int64     `json:"monotonic_ns"`
}

// Rates are the sampling rates that were in force; negative when not known.
type Rates struct {
	BlockNS  int `json:"block_ns"`       // as runtime.SetBlockProfileRate
	Mutex    int `json:"mutex_fraction"` // as runtime.SetMutexProfileFraction
	MemBytes int `json:"mem_bytes"`      // runtime.MemProfileRate
}

// A Cost is what the recording itself took.
type Cost struct {
	RecorderCPU float64 `json:"recorder_cpu_seconds,omitempty"` // 0 when not measured
	// TargetCPU is the target's CPU time in the recording, and TargetBefore in
	// TargetBeforeWall seconds just before it; 0 when not measured.
	TargetCPU        float64 `json:"target_cpu_seconds,omitempty"`
	TargetWall       float64 `json:"target_wall_seconds,omitempty"`
	TargetBefore     float64 `json:"target_before_cpu_seconds,omitempty"`
	TargetBeforeWall float64 `json:"target_before_wall_seconds,omitempty"`
}

// A Refusal is a source that was asked for and could not be had, or not all
// of it.
type Refusal struct {
	Member string `json:"member"`
	Why    string `json:"why"`
}

// ErrFormat says that a file is no recording and no zip archive.
var ErrFormat = errors.New("not a recording")
