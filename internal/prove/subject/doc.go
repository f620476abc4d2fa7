// Package subject runs the program that an experiment is about: once from start
// to end, and says what it used.
//
// It hides how a program is started with its knobs, when it is ready, how load
// is offered to it, how its resources are counted exactly, whether it really is
// the one that answers, how busy the machine was meanwhile, how two git
// revisions of a package become two binaries, and how noisy the machine is.
//
// Its types are [Program], a command with its environment, and [Subject], which
// runs one: [Subject.Run] with nothing but a stopwatch, [Subject.Count] with
// everything counted; a [Server] is one that stands for load from elsewhere.
// [BuildRevision] makes the binaries, [Floor] says below
// which difference times mean nothing on this machine.
//
// subject decides nothing: package experiment does. It ends only processes that
// it started, and never writes into the tree that it builds from.
package subject
