package model

import "time"

// GC is what the garbage collector did.
type GC struct {
	Cycles []Cycle
	Heap   []HeapSample
	Pauses []Pause
	// Load is every change of the collector's load on the Ps, in time order.
	// [GC.Utilization] is computed from it.
	Load []LoadChange
}

// A Cycle is one collection, from begin to end of marking.
type Cycle struct {
	Seq        uint64
	Begin, End time.Duration // negative when outside the window
}

// A HeapSample is the live heap and its goal at one moment. A field that did
// not change repeats its last value; 0 when not yet known.
type HeapSample struct {
	At          time.Duration
	Alloc, Goal uint64 // bytes
}

// A Pause is one stop-the-world.
type Pause struct {
	Kind     string // the runtime's word, like "GC mark termination"
	At       time.Duration
	Duration time.Duration
	Stack    Stack
}

// LoadKind is a way in which the collector keeps mutators from running.
type LoadKind uint8

// The kinds of load, in the order of the reference tool's flags.
const (
	LoadSTW        LoadKind = iota // all Ps stopped
	LoadBackground                 // a dedicated or fractional mark worker runs on the P
	LoadAssist                     // a goroutine in mark assist runs on the P
	LoadSweep                      // the P sweeps
	LoadProcs                      // not a load: GOMAXPROCS became Delta
)

// A LoadChange is the begin (+1) or end (-1) of one load on one P.
type LoadChange struct {
	At        time.Duration
	Proc      int32 // -1 for LoadSTW and LoadProcs
	Kind      LoadKind
	Dedicated bool // LoadBackground by a dedicated worker
	Delta     int32
}
