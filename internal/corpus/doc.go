// Package corpus makes the execution traces that tests and benchmarks read.
//
// It hides how test traces are made: which toolchain builds which program,
// where the results are cached, how the wire format is written by hand, and
// how a trace is damaged.
//
//   - [Make] and [Trace] run one of [Programs] under a Go toolchain from 1.21
//     on and give the path of its trace; a [Spec] says which;
//   - a [Builder] writes a trace event by event, for what no program does on
//     demand; [Sick] are such traces, each small enough to be checked by hand,
//     and [Synthetic] writes one of any size with any number of threads;
//   - [Damages] spoil a trace, [Split] and [Permute] take it apart, all the
//     same way each time.
//
// It never judges a trace and never reads one further than its batch headers:
// what is right is for package oracle, or a comment beside the case, to say.
package corpus
