package queueing

import (
	"testing"
	"time"
)

// The queue in which most time is spent is the first.
func TestQueuesInOrder(t *testing.T) {
	for _, totals := range [][]time.Duration{{3 * time.Second, 2 * time.Second}, {2 * time.Second, 3 * time.Second}} {
		j := &joiner{sums: map[int]*queueSums{}}
		for id, total := range totals {
			j.sums[id] = &queueSums{Queue: Queue{Kind: Lock, Total: total, Served: queueServed}}
		}
		if got := j.queues(); len(got) != 2 || got[0].Total != 3*time.Second {
			t.Errorf("%v: %+v, want the longest first", totals, got)
		}
	}
}
