// Package goroutines reads which goroutines a running program has, from outside:
// out of its memory, without stopping it, without its help, and without writing
// anything. [Open] a process, then [Reader.Read] as often as is wanted. What its
// runtime counts, of collections and heap, a [Gauge] reads beside it, and a [HeapReader]
// the memory profile that the runtime keeps. [Reader.Sample] is for who adds up many looks.
// [OpenCore] reads the same out of a core.
//
// It hides process_vm_readv, where each version of Go keeps what is asked for,
// how the runtime's variables are found in a program without symbols,
// and how a memory that changes while it is read is read all the same.
//
// # How it works, and why so
//
// The runtime keeps a pointer to each goroutine's structure in runtime.allgs. It
// only ever grows, and a structure never moves, so the pointers are read at once
// and the structures in batches. Neighbours in memory are read in one piece with
// what is between them: the kernel takes a page at a time, and a copy of a page
// costs less than finding it again for each of the 17 structures in it.
//
// Where the fields are is a table by version of Go, made from programs that each toolchain
// built ([TestLayouts] makes and checks it); programs of other toolchains are read by their
// DWARF. That is the second choice: it takes 0.3 s and 100 MB for a large program.
//
// Functions have their names in a program without symbols, too, and variables have none. Those of the
// runtime are found by the functions that use them, in all versions by the same: what these name, and
// then what is in the memory there. A list of goroutines has goroutines; of the counters see traces.
//
// A goroutine may change while it is read. What cannot be is dropped and counted in
// Snapshot.Torn: a state that does not exist, a start that is no function's. So a torn read
// drops a goroutine, and invents none: in 2.7 million read of a program that starts 1.3
// million a second none was at what only others do. Where much is torn the layout must be
// wrong, and there is no answer. A stack is given only where the goroutine's registers were
// the same before and after. Functions of plugins are not known: their goroutines count as
// torn.
//
// What a program labelled its goroutines with is read behind them: of each list that they
// point to the words, and then once more whether they still point there ([Part]).
//
// A process is a number, which another program may have by now. A reader stays with
// the memory that it was opened for, and ends with it: [ErrGone].
//
// How long a goroutine waits the runtime notes at collections only, and then it
// is the time of the collection before: tracebacks tell it as if it had waited
// since then. Here it counts from the first collection that is known to have
// found it waiting. A reader that looks again and again knows better: a
// goroutine that ran in between has another count of its runs (of one byte: in
// 256 runs it comes round, so that of many that run often one may seem to wait
// since the look before). Both tell a least time.
package goroutines
