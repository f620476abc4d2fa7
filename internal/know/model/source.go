package model

import "slices"

// A Source is one kind of evidence.
type Source string

// The sources of a model. A rule names those it needs.
const (
	Trace            Source = "trace"         // Go execution trace
	CPU              Source = "cpu"           // CPU profile (pprof)
	Wall             Source = "wall"          // wall-clock profile of all goroutines, as fgprof and gowhy record take (pprof)
	Heap             Source = "heap"          // allocations: an allocs or heap profile (pprof)
	LiveHeap         Source = "liveheap"      // heap profiles at the start and the end of the run (pprof)
	Block            Source = "block"         // block profile (pprof)
	Mutex            Source = "mutex"         // mutex profile (pprof)
	GoroutineProfile Source = "goroutine"     // goroutine profiles at the start and the end of the run (pprof)
	ThreadCreate     Source = "threadcreate"  // threadcreate profile (pprof)
	Leak             Source = "goroutineleak" // goroutines that nothing can wake any more (pprof)
	MetricsLog       Source = "metrics"       // runtime/metrics over time
	GCTrace          Source = "gctrace"       // lines of GODEBUG=gctrace=1
	SchedTrace       Source = "schedtrace"    // lines of GODEBUG=schedtrace=…
	BuildInfo        Source = "build"         // what the program was built from and how
	ProcFS           Source = "proc"          // /proc of the process and the machine, and its control group
	KernelCPU        Source = "kernel"        // on-CPU samples taken by the kernel
	OffCPU           Source = "offcpu"        // context switches seen by the kernel
	SyscallLog       Source = "syscalls"      // system calls counted by the kernel
	Holders          Source = "holders"       // one or two looks at who holds the heap
	LoadResult       Source = "load"          // what a load generator or benchmark measured
	Escape           Source = "escape"        // the compiler's escape analysis
	Printed          Source = "printed"       // profiles as go tool pprof or perf report prints them
	Counted          Source = "counts"        // what perf stat or strace counted
	ShortageLog      Source = "shortages"     // lines of a log about what the kernel refused
)

// A Giver is who tells of a source, and so what it takes to have it.
type Giver uint8

const (
	// ByRecorder is what gowhy reads from outside, and what others wrote.
	ByRecorder Giver = iota
	// ByProgram is what the program's own handlers give, or the agent in it.
	ByProgram
	// ByAgent is what the agent alone gives.
	ByAgent
	// ByKernel is what the kernel tells whom it allows.
	ByKernel
)

// A sourceLine is a line of the table of sources.
type sourceLine struct {
	source   Source
	words    string
	by       Giver
	recorded string                // what gowhy record calls it; "" for what that does not take
	profile  func(*Model) *Profile // nil for what is no profile
	present  func(*Model) bool     // set for that
}

// sources is the table of all sources, in the order in which gowhy record names them. A new
// one is its constant, a line here, a file with a line in the formats of
// internal/read/evidence, and, where it is recorded, its member in internal/sense/artifact.
var sources = []sourceLine{
	{Trace, "an execution trace", ByProgram, "trace", nil, func(m *Model) bool { return m.Sched != nil }},
	{CPU, "a CPU profile", ByProgram, "cpu", func(m *Model) *Profile { return m.CPU }, nil},
	{Wall, "a wall-clock profile", ByRecorder, "wall", func(m *Model) *Profile { return m.Wall }, nil},
	{LiveHeap, "a heap profile", ByProgram, "heap", func(m *Model) *Profile { return m.LiveHeap.End }, nil},
	{Heap, "a heap or allocs profile", ByProgram, "allocs", func(m *Model) *Profile { return m.Heap }, nil},
	{Block, "a block profile", ByProgram, "block", func(m *Model) *Profile { return m.Block }, nil},
	{Mutex, "a mutex profile", ByProgram, "mutex", func(m *Model) *Profile { return m.Mutex }, nil},
	{GoroutineProfile, "a goroutine profile", ByProgram, "goroutine", func(m *Model) *Profile { return m.Goroutines.End }, nil},
	{ThreadCreate, "a threadcreate profile", ByProgram, "threadcreate", func(m *Model) *Profile { return m.ThreadCreate }, nil},
	{Leak, "a goroutineleak profile", ByProgram, "goroutineleak", func(m *Model) *Profile { return m.Leaks }, nil},
	{MetricsLog, "the runtime's metrics over time", ByAgent, "metrics", nil, func(m *Model) bool { return m.Metrics != nil }},
	{GCTrace, "lines of gctrace", ByRecorder, "gctrace", nil, func(m *Model) bool { return len(m.GCLog) > 0 }},
	{SchedTrace, "lines of schedtrace", ByRecorder, "schedtrace", nil, func(m *Model) bool { return len(m.SchedLog) > 0 }},
	{BuildInfo, "build information", ByRecorder, "build", nil, func(m *Model) bool { return m.Build != nil }},
	{ProcFS, "the process's counters", ByRecorder, "proc", nil, func(m *Model) bool { return m.Process != nil }},
	{KernelCPU, "the kernel's CPU samples", ByKernel, "kernel", func(m *Model) *Profile { return m.kernel().CPU }, nil},
	{OffCPU, "the kernel's context switches", ByKernel, "offcpu", func(m *Model) *Profile { return m.kernel().Off }, nil},
	{SyscallLog, "counts of system calls", ByKernel, "syscalls", nil, func(m *Model) bool { return m.Syscalls != nil }},
	{Holders, "a look at who holds the heap", ByRecorder, "holders", nil, func(m *Model) bool { return len(m.Run.Holders) > 0 }},
	{LoadResult, "the result of a load generator", ByRecorder, "", nil, func(m *Model) bool { return m.Load != nil }},
	{Escape, "the compiler's escape analysis", ByRecorder, "", nil, func(m *Model) bool { return len(m.Escapes) > 0 }},
	{Printed, "a profile as go tool pprof prints it", ByRecorder, "", nil, func(m *Model) bool { return len(m.Tables) > 0 }},
	{Counted, "counts of perf stat, strace or inittrace", ByRecorder, "", nil, func(m *Model) bool { return len(m.Counts) > 0 }},
	{ShortageLog, "a log that says what the kernel refused", ByRecorder, "", nil, func(m *Model) bool { return len(m.Shortages) > 0 }},
}

// Sources returns all sources there are.
func Sources() []Source {
	list := make([]Source, len(sources))
	for i, l := range sources {
		list[i] = l.source
	}
	return list
}

func lineOf(s Source) sourceLine {
	if i := slices.IndexFunc(sources, func(l sourceLine) bool { return l.source == s }); i >= 0 {
		return sources[i]
	}
	return sourceLine{words: string(s)}
}

// Known reports whether a name is that of a source.
func (s Source) Known() bool { return lineOf(s).source != "" }

// Words returns in words what a source is, like "an execution trace".
func (s Source) Words() string { return lineOf(s).words }

// By returns who tells of a source.
func (s Source) By() Giver { return lineOf(s).by }

// Recorded returns what gowhy record calls a source, "" for one that it does not take.
func (s Source) Recorded() string { return lineOf(s).recorded }

// IsProfile reports whether a source is stacks with values.
func (s Source) IsProfile() bool { return lineOf(s).profile != nil }

// Profile returns the profile that a source is, nil where it was not recorded or is none.
func (m *Model) Profile(s Source) *Profile {
	if of := lineOf(s).profile; of != nil {
		return of(m)
	}
	return nil
}

func (m *Model) kernel() *Kernel {
	if m.Kernel == nil {
		return &Kernel{}
	}
	return m.Kernel
}

// Has reports whether the model holds evidence of the given kind.
func (m *Model) Has(s Source) bool {
	if of := lineOf(s).present; of != nil {
		return of(m)
	}
	return m.Profile(s) != nil
}
