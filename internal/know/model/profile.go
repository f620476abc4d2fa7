package model

import (
	"slices"
	"time"
)

// A Profile is a sampled profile with its sample types, as pprof has them.
type Profile struct {
	Types   []ValueType
	Samples []Sample
	// Duration is the time over which it was taken; 0 when unknown.
	Duration time.Duration
	// FromTrace is set when the samples were carried by the execution trace.
	FromTrace bool
	// At is when it was taken or, with a Duration, when that began, since the
	// window's start; may be negative. Known is false where the profile does not say.
	At    time.Duration
	Known bool
}

// Snapshots are two profiles of a state, at the start and at the end of a run.
// Only End is there when one was taken.
type Snapshots struct{ Start, End *Profile }

// A ValueType names one column of a profile, like {"cpu", "nanoseconds"}.
type ValueType struct{ Name, Unit string }

// A Sample is one stack with a value for each type.
type Sample struct {
	Stack  Stack
	Values []int64
	Group  string            // start function of the goroutine, when known
	Labels map[string]string // pprof labels, when any
}

// Column returns the index of the type of that name, -1 when it has none.
func (p *Profile) Column(name string) int {
	return slices.IndexFunc(p.Types, func(t ValueType) bool { return t.Name == name })
}

// Value returns a column of the sample, 0 where it has none.
func (s *Sample) Value(column int) float64 {
	if column < 0 || column >= len(s.Values) {
		return 0
	}
	return float64(s.Values[column])
}

// InUse returns the profile that says what was in use at the end, nil without one: a
// heap profile, or else a profile of all allocations since the start, which has that
// beside it. One of a window has there by how much it grew.
func (m *Model) InUse() *Profile {
	if m.LiveHeap.End == nil && m.Heap != nil && m.Heap.Duration == 0 {
		return m.Heap
	}
	return m.LiveHeap.End
}
