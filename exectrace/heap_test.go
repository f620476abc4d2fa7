package exectrace

import "testing"

// Of more samples of the heap than are kept, those that are lie evenly over all, and the
// last is one of them.
func TestHeapKeptEvenly(t *testing.T) {
	for _, n := range []int{1, maxHeap - 1, maxHeap, maxHeap + 1, 3 * maxHeap, 20*maxHeap + 7} {
		a := newOrderedAccount(Options{})
		for i := range n {
			a.metric(&Event{typ: evHeapAlloc, Time: Time(i), args: [4]uint64{uint64(i) + 1}})
		}
		heap := a.st.heap
		step := 1
		for n > step*maxHeap {
			step *= 2
		}
		if want := min(n, maxHeap/2); len(heap) < want || len(heap) > maxHeap {
			t.Errorf("of %d samples %d are kept", n, len(heap))
		}
		for i, h := range heap[:len(heap)-1] {
			if int(h.At) != i*step || h.Alloc != uint64(i*step)+1 {
				t.Fatalf("of %d samples the one at %d is that of %d, want that of %d", n, i, h.At, i*step)
			}
		}
		if last := heap[len(heap)-1]; int(last.At) != n-1 {
			t.Errorf("of %d samples the last that is kept is %d", n, last.At)
		}
	}
}
