// Package corpus makes the execution traces that tests and benchmarks read.
//
// It hides how test traces are made: which toolchain builds which program,
// where the results are cached, how the wire format is written by hand, and
// how a trace is damaged.
//
//   - [Trace] gives the path of a trace of one of [Programs]; a [Spec] says
//     which. For the plain go test it is one that is kept here, else [Make] runs
//     the program under a Go toolchain from 1.21 on, on a machine fit for it;
//   - a [Builder] writes a trace event by event, for what no program does on
//     demand; [Sick] are such traces, each small enough to be checked by hand,
//     and [Synthetic] writes one of any size with any number of threads;
//   - [ParseText] reads one that is kept as text, which can be reviewed;
//   - [Damages] spoil a trace, [Split] and [Permute] take it apart, all the
//     same way each time.
//
// It never judges what a trace says and never reads one further than its batch headers:
// what is right is for package oracle, or a comment beside the case, to say.
package corpus
