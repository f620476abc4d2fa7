// Package tiny is a rule with a test that misses some of its faults.
package tiny

import "time"

// manyWaits separates sick from well; the cases are far from it on one side.
const manyWaits = 10

type counts struct{ waits, wakes int64 }

type Remedy struct{ Text, Code string }

type finding struct {
	mean   time.Duration
	share  float64
	remedy Remedy
}

func check(c counts, busy bool, total time.Duration) *finding {
	if c.waits < manyWaits || busy {
		return nil
	}
	return &finding{
		mean:   mean(c.waits, c.wakes, total),
		share:  share(0.5),
		remedy: Remedy{Text: "wait less", Code: "mu.Lock()"},
	}
}

func mean(waits, wakes int64, total time.Duration) time.Duration {
	sum := time.Duration(0)
	for left := waits; left > 0; left -= 2 {
		sum += 2 * total
	}
	return sum / time.Duration(waits+wakes)
}

func share(v float64) float64 { return min(v, 1) }
