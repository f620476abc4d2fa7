// Package kernel watches one process from the kernel's side: where its threads
// spend CPU time, in the program and in the kernel; where they lose the CPU
// and for how long; and which system calls they make.
//
// It hides perf_event_open and its rings, the eBPF programs, the ways around
// missing privileges, and how addresses become names. Its types are [Options],
// [Session] and [Result]: [Start], wait, [Session.Stop]. What could not be had
// is a [Refusal], never a silent zero; [Check] tells the same beforehand.
//
// It never runs another program, never changes a setting of the system, never
// mounts anything, and never keeps single events: all is summed as it comes,
// within bounds.
//
// # How it works, and why so
//
// CPU time is sampled by a timer of the kernel, the software event cpu-clock,
// which exists in virtual machines too. With CAP_PERFMON there is one event
// for each CPU and an eBPF filter for the process: the samples are unbiased
// however short threads run, a switch of threads costs nothing, and threads
// need not be found. Without it there is one event for each thread and CPU,
// inherited by new threads. Such an event counts a thread's time on one CPU
// from zero, so up to one period for each thread and CPU is never seen, and it
// sets a timer at each switch: a program that only passes a byte between two
// threads took 1.8 times the CPU, and two thirds of that was seen.
//
// Samples are compared with the scheduler's own clock in Result.CPUTime. On a
// busy program and on one that spends its time in system calls they agree
// within 3 %. Where threads run for microseconds and then leave their CPU idle,
// 50,000 times a second, up to a fifth was missing on a virtual machine: the
// timer's interrupt comes late there, when nobody runs any more. Time that a
// hypervisor takes away is in the samples and not in the clock.
//
// Time off the CPU is summed by an eBPF program at sched_switch; no record
// leaves the kernel. All switches are counted and timed, which costs 0.4 µs
// each; those that take stacks cost 1.3 µs with the program's part only and
// 3.1 µs with the kernel's. Go programs switch up to 100,000 times a second, so
// stacks are taken of at most 10,000 switches a second on each CPU, and the
// others are shared out among them. Where system calls are counted too, the
// call's number stands for the kernel's part. Records of all switches, the way
// taken without CAP_BPF, cost the program another factor. A wait that began
// before Start and never ended is not seen, one that goes on at Stop counts
// until then.
//
// System calls are counted by two eBPF programs at the entry and the exit of
// all calls, for each CPU apart. Only calls that began and ended between Start
// and Stop count.
//
// A call costs 0.3 µs more for it, most of it the kernel's slow way into traced
// calls and two lookups.
//
// The programs are assembled here by hand from helpers and the arguments of
// raw tracepoints alone. So there is no compiler, no type information of the
// kernel, no tracefs, and no kprobe to ask for. What each costs is measured by
// TestOverhead.
//
// Names of functions come from the table that Go programs carry for their
// runtime, with inlined functions where the program is of Go 1.20 or newer;
// for other code from ELF symbols, for the kernel from /proc/kallsyms. Stacks
// of the program are walked by frame pointers, as the kernel does it: a
// function in its first instructions hides its caller, and a stack ends where
// Go code changes stacks. The caller of a function without a frame, which the
// kernel passes over, is put back in samples, from the return address; not in
// the stacks that eBPF takes.
package kernel
