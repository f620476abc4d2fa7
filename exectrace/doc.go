// Package exectrace reads Go execution traces: what `go test -trace`,
// net/http/pprof's /debug/pprof/trace, runtime/trace and its flight recorder
// write.
//
// It hides the wire format and its versions (Go 1.22 to 1.26; older ones
// through golang.org/x/exp/trace), the order of events between threads, and
// damage: what is whole is read, what is lost is counted.
//
//   - [Open], [NewReaderAt] and [NewReader] give a [Trace];
//   - [Trace.Account] answers what goroutines, Ps and the collector did, in
//     one pass over all cores and in memory bounded by the largest generation
//     and the goroutines alive, not by the trace: [Accounts]. Whatever its
//     bytes say, n of them take at most 64 MiB and 4 KiB each;
//   - [Trace.Pieces] gives what single goroutines, Ps and threads did in each
//     generation, in stretches of time, for pictures: [Piece]. Options.Piece
//     gives the same beside the accounts;
//   - [Trace.Events] iterates over single [Event]s of a time window in order,
//     for listings and time lines.
//
// Times are the trace's own clock: nanoseconds, on Linux CLOCK_MONOTONIC. They are
// never adjusted to look ordered.
//
// exectrace never prints, never changes a file, and imports nothing of this
// project.
package exectrace
