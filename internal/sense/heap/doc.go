// Package heap says who holds the memory of a running Go program: it reads the heap from
// outside, without stopping the program, and follows the pointers from variables, stacks and
// the runtime's lists to every object. [Read] is the whole of it.
//
// It hides how the runtime keeps spans, which bits tell allocated objects and pointers, how
// the types of objects are found, and how ten million objects are kept in little memory.
//
// # How it works, and why so
//
// The spans are read first, then variables and stacks, then the contents of all objects with
// pointers once, in pieces of a megabyte: what an object points to is kept in six bytes an
// entry, by the numbers of objects, so that the walk over them reads the process no more.
//
// The walk goes from the program's variables first, then from the goroutines, those that are
// there longest first, then from queued finalizers, timers, and last from the runtime's own
// lists. An object belongs to the holder that came to it first, and is shared where a later
// one comes to it, too: that is what stays if the first lets go. True dominators would name
// an object in the middle, as a server that all its handlers have on their stacks; they need
// four times the memory, and the order above names the same holder there: who began it.
//
// Types are what large objects have in front, what interfaces and closures say, and what the
// file's description of variables leads to from field to field.
//
// A heap dump has the same objects one by one, with their pointers, and roots: [ReadDump]. From there on all
// is the same.
//
// Nothing is stopped, so the memory changes meanwhile: a pointer that was moved between two
// readings may be seen twice or never. What points to nothing is counted, and so is what is
// allocated and reached from nowhere.
package heap
