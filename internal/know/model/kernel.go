package model

import (
	"strings"
	"time"
)

// Kernel is what the kernel saw the process's threads do.
type Kernel struct {
	// CPU is where threads were when they had a CPU, in user code and in the
	// kernel: types samples/count and cpu/nanoseconds. Stacks begin in the
	// kernel where it was. Labels: "mode" is user or kernel, "thread" the
	// thread's name, "syscall" the system call's name, when it was in one.
	CPU *Profile
	// Off is where threads lost the CPU: types switches/count and
	// offcpu/nanoseconds. Label "preempted" is true when the thread wanted to go on.
	Off *Profile
	// UserOnly is set when the kernel's own frames were not permitted.
	UserOnly bool
	// OffShare is the share of the time in which switches were watched, so that
	// watching costs the program little; counts and times of Off are scaled up
	// from it. 0 where that is not said, and 1, are all of it.
	OffShare float64
	// Lost is how many samples the kernel could not deliver.
	Lost int64
	// Moments are the samples of CPU one by one, in order of time. Nil when their
	// times were not recorded. MomentsLost is how many of them are missing here,
	// for they were too many to be kept.
	Moments     []KernelMoment
	MomentsLost int64
}

// A KernelMoment is when and where one of the kernel's samples was taken.
type KernelMoment struct {
	// At may be outside of the window: the kernel is watched a little longer.
	At     time.Duration
	Thread int32 // or EndedThread
	CPU    int32
	Sample int32 // index in Kernel.CPU.Samples
}

// EndedThread is the number that the kernel gives to a thread which ends while it is
// sampled.
const EndedThread = -1

// Syscalls are the process's system calls in the window.
type Syscalls struct {
	Window time.Duration // over which they were counted
	Calls  []Syscall     // by count, most first
	Lost   int64         // that could not be counted
	// Share is the share of Window in which calls were counted: slices spread
	// at random over all of it, for counting costs the program some 0.3 µs a
	// call. Counts, times, errors and bytes are scaled up from it to the
	// window, and what is rare may be missing or too often. 0 where that is not
	// said, and 1, are all of it: then the numbers are exact.
	Share float64
}

// Exact reports whether every call of the window was counted.
func (s *Syscalls) Exact() bool { return s.Share == 0 || s.Share >= 1 }

// A Syscall is all calls of one name.
type Syscall struct {
	Name   string // as in syscall(2)'s tables: read, futex, epoll_pwait
	Count  int64
	Time   time.Duration    // from enter to exit, waiting included; 0 when not measured
	Errors map[string]int64 // by errno's name: EAGAIN
	Bytes  int64            // sum of positive results of calls that return a number of bytes
}

// Call returns the calls of a name; the zero Syscall when there were none.
func (s *Syscalls) Call(name string) Syscall {
	for _, c := range s.Calls {
		if c.Name == name {
			return c
		}
	}
	return Syscall{Name: name}
}

// An Escaping is one value that the compiler moved to the heap, or a place
// where it says so.
type Escaping struct {
	File string
	Line int
	What string // the expression, as the compiler prints it
	// Moved is set for a variable ("moved to heap"), else the expression escapes.
	Moved bool
	// Variadic is set for the "... argument" of a call.
	Variadic bool
	// Stays is set for a "... argument" that does not escape: it only says that
	// the line has such a call, whose values may escape one by one.
	Stays bool
}

// In reports whether the value is in a file of a stack: the compiler's name of one may
// be relative to where it ran.
func (e *Escaping) In(file string) bool {
	a, b := strings.TrimPrefix(e.File, "./"), strings.TrimPrefix(file, "./")
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && (a == b || strings.HasSuffix(b, "/"+a))
}
