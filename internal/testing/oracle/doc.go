// Package oracle tells what the reference tools make of an execution trace:
// what a loop over golang.org/x/exp/trace sees, the per-goroutine summary of
// the Go distribution's trace viewer, and the four profiles that
// `go tool trace -pprof=` writes.
//
// It hides how the reference tools read a trace, and answers with all their
// faults: events moved to later times where generations overlap, waits ahead
// of a goroutine's first run left out of the profiles, system calls whose lost
// P goes unnoticed, one life only of a goroutine id. Tests compare the reader
// of this project with it; benchmarks race against it, so it is written to be
// as fast as that library allows.
//
//   - [Count] is the bare loop; [Analyze] gives the [Report] of goroutines,
//     tasks and profiles in one pass;
//   - [Raw] pairs each event with the time that its thread wrote down, by a
//     decoder that shares nothing with the reference, so that a test can tell
//     a moved event from a wrong one; [Options.RawTimes] sums up with those;
//   - [Utilization] and [MMU] follow the meaning that package trace documents,
//     not what it does, which is broken since Go 1.22.
//
// It is for tests and benchmarks only: it never survives damage and its memory
// grows with the trace's tables.
package oracle
