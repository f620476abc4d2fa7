package kernel

import (
	"cmp"
	"slices"
)

// A queue brings the events of several CPUs into one order: each has a ring of
// its own, and they are read one after the other.
type queue[E interface{ at() uint64 }] []E

// maxQueue bounds how many events wait for those of other CPUs. One round of
// reading brings at most a ring for each CPU.
const maxQueue = 1 << 20

// add reports whether there was room.
func (q *queue[E]) add(e E) bool {
	if len(*q) >= maxQueue {
		return false
	}
	*q = append(*q, e)
	return true
}

// advance handles what happened before horizon, in order. What is younger
// waits: an older event of another CPU may still come.
func (q *queue[E]) advance(horizon uint64, handle func(E)) {
	slices.SortStableFunc(*q, func(a, b E) int { return cmp.Compare(a.at(), b.at()) })
	n := 0
	for ; n < len(*q) && (*q)[n].at() < horizon; n++ {
		handle((*q)[n])
	}
	*q = slices.Delete(*q, 0, n)
}
