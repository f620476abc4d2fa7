package dispatch

import (
	"testing"

	"lockerdispatch/internal/lockers"
)

func TestRun(t *testing.T) {
	for _, eager := range []bool{false, true} {
		s := lockers.New(4)
		d := New(s, eager)
		done, handled := make(chan struct{}), make(chan int)
		go func() { handled <- d.Run(done) }()
		d.Paid(2)
		for s.Opened() == 0 {
			d.Returned(3) // it is told more than once
		}
		close(done)
		if n := <-handled; n < 1 || s.Opened() != 1 {
			t.Errorf("eager %v: handled %d, opened %d", eager, n, s.Opened())
		}
	}
}
