package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Counts are what a tool counted of a process from outside: the events that somebody
// asked perf stat for, or the system calls that strace saw. Of what is not in it nothing
// is known: it is no [Syscalls], which has all calls with their errors and bytes.
type Counts struct {
	File   string
	Tool   string        // "perf stat", "strace", "inittrace"
	Window time.Duration // over which they were counted; 0 when not said
	CPU    time.Duration // of the process meanwhile; 0 when not said
	Calls  []Count       // system calls, most first
	Events []Count       // others, in the order of the tool
	Inits  []Init        // packages that were initialised, in order; only of inittrace
}

// An Init is what initialising a package took, as GODEBUG=inittrace=1 prints it.
type Init struct {
	Package string
	At      time.Duration // since the runtime began to initialise itself
	Took    time.Duration // by the clock
	Bytes   float64       // allocated on the heap
	Allocs  float64
}

// A Count is how often something happened.
type Count struct {
	Name   string // a system call as in syscall(2)'s tables, or the tool's word for an event
	N      float64
	Errors int64         // calls that returned one; only of strace
	Time   time.Duration // that the kernel worked for the calls, waiting left out; only of strace
}

// Initialising returns how long all packages took.
func (c *Counts) Initialising() (sum time.Duration) {
	for i := range c.Inits {
		sum += c.Inits[i].Took
	}
	return sum
}

// AllCalls returns how many system calls were counted.
func (c *Counts) AllCalls() (n float64) {
	for i := range c.Calls {
		n += c.Calls[i].N
	}
	return n
}

// Sort puts the calls in order.
func (c *Counts) Sort() {
	slices.SortStableFunc(c.Calls, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
}

// SyscallName returns the name in syscall(2)'s tables of the kernel's function or tracepoint of
// a call: "stat" of "newstat".
func SyscallName(function string) string { return kernelName(function) }
