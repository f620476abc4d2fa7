// Package whatif replays a trace under a change: fewer or more Ps, a shorter
// piece of work, a lock that is not held, and says how long it would have taken.
//
// It hides the simulation: Ps as servers, goroutines as jobs made of stretches
// of work and waits, locks that are granted as the runtime grants them, wake-ups
// as edges, and what of a trace cannot be moved because it came from outside.
//
//   - [Read] makes a [Program] of a trace: what each goroutine did between its
//     waits, and whom it woke;
//   - [Program.Run] replays it with [Edit]s, deterministically: a [Result];
//   - [Program.Menu] tries the usual changes and ranks them;
//   - [Measured] tells how far predictions were off where they could be
//     compared with what happened: [Bands].
//
// What a replay keeps as it was: which goroutine did which piece of work, how
// long answers from outside took, and that a wait which the trace does not have
// does not come about, except for locks, a P, and a sync.WaitGroup. It knows
// nothing of caches, of memory that a change needs, or of another algorithm.
//
// whatif predicts and never promises: how far its replay of the unchanged trace is off comes
// first, and a trace that cannot carry the question is refused.
package whatif
