// Package kernel watches one process from the kernel's side: where its threads
// spend CPU time, in the program and in the kernel; where they lose the CPU
// and for how long; and which system calls they make.
//
// It hides perf_event_open and its rings, the eBPF programs, the ways around
// missing privileges, and how addresses become names. Its types are [Options],
// [Session] and [Result]: [Start], wait, [Session.Stop]. What could not be had
// is a [Refusal], never a silent zero; [Check] tells the same beforehand.
//
// It never runs another program, never changes a setting of the system, and
// never mounts anything. Events are summed as they come, within bounds; of
// single ones it keeps the CPU samples alone, 16 bytes of each and at most a
// million of them: when, on which CPU, of which thread, with which of the stacks
// that are kept anyway.
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
// A sample costs 15 µs on a virtual machine, and one that the filter throws
// away costs the same: it is the timer's interrupt, not what is written.
//
// Records carry CLOCK_MONOTONIC, as asked for with use_clockid, which the Go
// runtime takes the times of its traces from on Linux: so a sample stands beside
// the trace's events of the same moment.
//
// Samples are compared with the scheduler's own clock in Result.CPUTime. On a
// busy program and on one that spends its time in system calls they agree
// within 3%. Where threads run for microseconds and then leave their CPU idle,
// 50,000 times a second, up to a quarter was missing on a virtual machine: the
// timer's interrupt comes late there, when nobody runs any more. Time that a
// hypervisor takes away is in the samples and not in the clock.
//
// Time off the CPU is summed by an eBPF program at sched_switch, system calls
// by two at the entry and the exit of all calls; no record leaves the kernel. On a
// machine where a call that does nothing takes 0.25 µs, a call costs 0.3 µs more for
// it, a switch 0.45 µs, and 3 µs with its stacks, 1.7 of them the kernel's part; on
// one where it takes 0.09 µs, a third of all these. Of a call's cost a third to a
// half is the kernel's slow way into and out of traced calls, with programs that do
// nothing: only to take them off makes calls cheap again. That and putting them on
// takes each CPU 0.25 ms, for code of the kernel is changed.
//
// So a source watches all of the time only as long as that costs the program
// less than 0.5% of its CPU time or 0.05% of a CPU, whichever is more: first
// stacks are taken of a share of the switches, drawn by lot; beyond, the
// programs are attached for a share of the time, some 10 ms of each quarter of
// a second at a random place in it. [Result] tells the shares. The rate is known
// after the first 10 ms and is followed from then on. Programs keep the slices'
// bounds themselves, to the nanosecond, and give each event the weight of its
// slice; so the sums are not biased by how rates change, nor by periods in the
// program.
//
// What is longer than a slice is not lost. Time counts as far as it reaches into slices: this
// number of threads are in a call, or off the CPU at a place, for such a share of the time. A
// call that began before the slice counts when it ends, by the number in the thread's saved
// registers, and where nothing happened in a slice, /proc tells what call the thread is in. A
// wait goes on from slice to slice as long as the thread did not run in between. One that
// began in between is of an unknown place; these share the places of the known waits that
// reached over a pause, which are long ones too. In the same way switches without stacks
// share the places of those with, of threads of the same name and with the same flag. Times
// scale by the clock, numbers of switches to what the kernel counted for the threads, and
// numbers of calls, which it does not count, by the program's CPU time without what the
// watching costs: a busy program gets less done while it is watched. On steady programs these
// agree with exact numbers within a few percent after some seconds.
//
// Records of all switches, the way taken without CAP_BPF, cost the program
// another factor, and are not thinned out. A wait that began before Start and
// never ended is not seen, one that goes on at Stop counts until then.
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
