package kernel

import (
	"errors"
	"time"
)

// ErrNotAvailable is returned by [Start] on systems other than Linux on amd64
// and arm64.
var ErrNotAvailable = errors.New("kernel evidence is not available on this system")

// Options say what to watch of which process.
type Options struct {
	PID int // as this process sees it
	// Hz is how many on-CPU samples a second of CPU time to take; 0 takes none.
	// Start lowers it to what the kernel allows; Result.Hz tells.
	Hz       int
	OffCPU   bool // where threads lose the CPU, and for how long
	Syscalls bool // counts, errors and times of system calls
	// AllSyscalls counts every call, whatever that costs the program, and not
	// only in a share of the time; see Result.SyscallsShare.
	AllSyscalls bool
	// Sparse watches calls and switches in fewer, longer slices, where they are too
	// many to be watched all the time: to begin and end a slice costs the watcher more
	// than to watch.
	Sparse bool
}

// A Refusal is a part of what was asked for and could not be had.
type Refusal struct {
	What string // "cpu", "kernel stacks", "offcpu" or "syscalls"
	Why  string // what the system answered, and which setting makes it so
	How  string // a command that allows it; empty when none does
}

// A Permission is whether this process may use a part of the kernel's evidence.
type Permission struct {
	What string // as in Refusal
	OK   bool
	Why  string // when not OK, or when OK only in part
	How  string
}

// A Result is what the kernel saw between Begin and End.
type Result struct {
	Begin, End time.Time
	// Hz is the rate at which samples were taken: each stands for 1/Hz s of CPU.
	Hz       int
	CPU, Off []Sample // by Time, most first
	// Moments are the samples of CPU one by one, in order of time. MomentsLost
	// is how many more there were: the first 1,048,576 are kept.
	Moments     []Moment
	MomentsLost int64
	// CPUTime is what the scheduler itself says the process used, of all its
	// threads. When the process died in between it lacks up to 0.1 s.
	CPUTime time.Duration
	// UserOnly is set when CPU holds no time in the kernel, because the kernel's
	// own part was refused. It is then less than the process's CPU time.
	UserOnly bool
	// Lost is how many samples and switches were seen but not kept: the reader
	// was too slow, or a bound on memory was reached.
	Lost int64
	// OffShare is the share of the time in which switches were seen, 0 to 1.
	// Counts and times of Off are scaled up from it to the whole.
	OffShare     float64
	Syscalls     []Syscall // by Count, most first
	SyscallsLost int64     // calls seen but not counted
	// SyscallsShare is the share of the time in which calls were counted, 0 to
	// 1. All numbers in Syscalls are scaled up from it to the whole; at 1 they
	// are exact.
	SyscallsShare float64
}

// A Sample is all samples, or all switches, of one stack and thread name.
type Sample struct {
	// Stack is leaf first, the kernel's frames before the program's. It is nil
	// where the stack was refused or a bound on memory was reached.
	Stack  []Frame
	Thread string // the thread's name, usually that of the program
	Kernel bool   // on CPU: the thread was in the kernel
	// Syscall is the call that the thread was in while in the kernel: a name of
	// the system's table; "system call" on the way into and out of one; or
	// "page fault", or "interrupt", or empty when the stack does not tell.
	Syscall string
	// Preempted tells of a switch that the thread could have run on, by the
	// kernel's choice or by sched_yield.
	Preempted bool
	// Count is of samples, or of switches. Where switches are sampled it is
	// their estimated number.
	Count int64
	Time  time.Duration // on CPU: Count / Hz; off CPU: from losing the CPU to having one again
}

// A Moment is when and where one sample of Result.CPU was taken.
type Moment struct {
	Time   time.Duration // of CLOCK_MONOTONIC, to which execution traces keep too
	Thread int           // as this process sees it
	CPU    int
	Sample int // index in Result.CPU: the stack, and whether it was in the kernel
}

// A Frame is one function of a stack. Functions that the compiler inlined have frames of
// their own, with the same PC, where the program is of Go 1.20 or newer; of older programs
// only the outermost is known.
type Frame struct {
	PC     uint64 // a return address, but for the leaf
	Func   string // empty when unknown
	File   string // source file, or the mapped file when the function has no line table
	Line   int    // 0 when unknown
	Kernel bool
}

// A Syscall is all calls of one name.
type Syscall struct {
	Name  string // as in the system's table; "syscall N" for one that it lacks
	Count int64  // calls that ended
	// Time is that of all threads in the call, between Begin and End, waiting
	// included.
	Time   time.Duration
	Errors map[string]int64 // by errno's name; nil when there were none
	// Bytes is the sum of positive results of calls that return a number of
	// bytes; 0 for the others.
	Bytes int64
}
