package beat

import (
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ now, every, want time.Duration }{
		{0, 1000 * ms, 1000 * ms},
		{5 * ms, 1000 * ms, 995 * ms},
		{500 * ms, 1000 * ms, 500 * ms},
		{501 * ms, 1000 * ms, 1499 * ms}, // too soon after what was done now
		{1999 * ms, 1000 * ms, 1001 * ms},
		{7300 * ms, 500 * ms, 700 * ms},
		{7 * ms, 0, 0},
	} {
		if got := until(c.now, c.every); got != c.want {
			t.Errorf("at %v, each %v: %v, want %v", c.now, c.every, got, c.want)
		}
	}
}

// Parts that began at different times meet.
func TestUntilMeets(t *testing.T) {
	const ms = time.Millisecond
	a, b := 3*ms, 777*ms
	a += until(a, time.Second)
	b += until(b, time.Second)
	for a < b {
		a += until(a, time.Second)
	}
	if a != b {
		t.Errorf("one wakes at %v, the other at %v", a, b)
	}
	if half := b + until(b+ms, 500*ms) + ms; half%(500*ms) != 0 {
		t.Errorf("what is done twice as often is done at %v, beside the moments of the others", half)
	}
}
