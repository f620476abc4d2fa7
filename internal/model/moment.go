package model

import "time"

// A Moment is what every goroutine stood at, at one instant: a dump or a goroutine
// profile, a look from outside, or the end of a trace's window. It answers who
// waits for whom, which sums over time cannot.
type Moment struct {
	// Source is the evidence that it is from.
	Source Source
	// At is when it was, since the window's start; Known is false where nothing tells.
	At    time.Duration
	Known bool
	// Watched is how long before the moment it is known who made no step, 0 when
	// only the moment is known.
	Watched time.Duration
	// Goroutines are those that stand alike, together; the most first.
	Goroutines []Standing
}

// A Standing is goroutines that stand alike: same stack, same state, same lock.
type Standing struct {
	Count int64
	Stack Stack
	// State is the runtime's word for what they do or wait for, like "chan receive",
	// "sync.Mutex.Lock" or "running", [StateOf] of the stack where the evidence has none.
	State string
	// Waited is the longest that one of them is known to have waited; 0 when not known.
	Waited time.Duration
	// Still is how many of them made no step in the time that was watched.
	Still int64
	// Wants is the address of the lock or channel they wait for, 0 when not known.
	Wants uint64
	// Holds are locks that they hold, as far as source or addresses tell.
	Holds []Holding
	// Goroutine is the runtime's number of one of them, 0 when not known.
	Goroutine int64
	Labels    map[string]string // pprof labels, when any
}

// A Holding is a lock that a goroutine holds.
type Holding struct {
	// Lock is the lock's address, 0 when not known.
	Lock uint64
	// Taken is the frame that took it: its line is that of the call to Lock.
	Taken Frame
	// Expr is the lock as the source names it, like "s.mu"; empty when only addresses tell.
	Expr string
	// Shared is set for the read side of a reader-writer lock.
	Shared bool
}
