package model

import (
	"sync"
	"time"
)

// A CPUPart is a part of the process's CPU time.
type CPUPart string

// The parts, in the order of reports. They do not overlap.
const (
	Application CPUPart = "application"       // the program's own functions and its libraries
	Scheduling  CPUPart = "scheduler"         // finding work, parking, waking threads, timers, netpoll; its system calls too
	Collecting  CPUPart = "garbage collector" // mark, assist, sweep, scavenge
	Allocating  CPUPart = "allocation"        // mallocgc without the assists in it
	StackGrowth CPUPart = "stack growth"      // newstack, copystack and the unwinding for them
	InKernel    CPUPart = "system calls"      // in the kernel for the program: system calls and page faults
	InCgo       CPUPart = "cgo"               // in C code
	OtherCPU    CPUPart = "other"             // sampled, and the stack does not tell
	NotSampled  CPUPart = "not sampled"       // in rusage and in no sample
)

// A CPUAccount says where a process's CPU time went. Its parts add up to Total.
type CPUAccount struct {
	// Window is the piece of the run that the account is of, and From where
	// it begins, since the window's start: that of the samples, as far as
	// the process's counters were read in it.
	From, Window time.Duration
	// User and System are the process's rusage in the window; Known is false
	// when no evidence tells it, and Total is then what was sampled.
	User, System time.Duration
	Known        bool
	Total        time.Duration
	Parts        []CPUEntry // in the order of the constants; those of no time are left out
	// Believed is the source that the parts were taken from, CPU or KernelCPU,
	// and Why says why not the other.
	Believed Source
	Why      string
	// Coverage is what each source saw ÷ rusage: 1 is all of it. Empty when
	// rusage is not known.
	Coverage map[Source]float64
	// Scale is what samples were multiplied with because they exceeded rusage;
	// 1 when they did not.
	Scale float64
	// Disagree is set when they exceeded it by more than chance explains:
	// samples and counters are not of the same process and time.
	Disagree bool
	// Samples is how many the parts were taken from.
	Samples int64
	// Noise is how far coverage can be off by chance, as a share: two standard
	// deviations of the number of samples, and a tick of the counters at each end.
	Noise float64
	// Kernel is how much of what was sampled was in the kernel, scaled alike.
	Kernel time.Duration
}

// CPUAccount accounts for the CPU time of the process: what its counters
// (rusage) say, split as the samples say that cover it best. Without samples
// everything is NotSampled; without counters Total is what was sampled. nil
// without any evidence of CPU time.
//
// Of a [Model.Frozen] it is computed once; the result must not be changed.
func (m *Model) CPUAccount() *CPUAccount {
	if m.frozen == nil {
		return m.cpuAccount()
	}
	m.frozen.cpu.Do(func() { m.frozen.account = m.cpuAccount() })
	return m.frozen.account
}

// A CPUEntry is one part, with its own parts where they are known: system
// calls by name, largest first.
type CPUEntry struct {
	Part CPUPart
	Time time.Duration
	By   []CPUName // at most Time in all
}

// A CPUName is a piece of a part.
type CPUName struct {
	Name string
	Time time.Duration
}

// Operations are the units of work that the program did in the window.
type Operations struct {
	Count  float64 // in the window
	Name   string  // what is counted, like "requests" or a task's name
	Source Source  // LoadResult or Trace
	From   string  // in words, like "k6" or "server goroutines ended"
}

// Frozen returns the model for those who only read it, as every rule does:
// what takes all samples to compute is kept. The model must not change any
// more. It may be read by several goroutines at once.
func (m *Model) Frozen() *Model {
	if m.frozen != nil {
		return m
	}
	f := *m
	f.frozen = &frozen{}
	return &f
}

// frozen is what a model that does not change knows of itself.
type frozen struct {
	cpu, memory sync.Once
	account     *CPUAccount
	resident    *MemoryAccount
}
