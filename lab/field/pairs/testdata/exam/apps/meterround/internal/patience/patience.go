// Package patience tries things again that may succeed later.
package patience

import (
	"errors"
	"math/rand/v2"
	"time"
)

// A Policy says how often and after which pauses.
type Policy struct {
	Attempts    int
	First, Most time.Duration
}

// Default are five attempts.
func Default() Policy {
	return Policy{Attempts: 5, First: 10 * time.Millisecond, Most: 100 * time.Millisecond}
}

// final reports whether an error tells of itself that it will stay.
func final(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && !t.Temporary()
}

// Do calls f until it succeeds, the error is final, or the attempts are used up.
func (p Policy) Do(f func() error) (err error) {
	pause := p.First
	for n := range p.Attempts {
		if err = f(); err == nil || final(err) || n == p.Attempts-1 {
			return err
		}
		time.Sleep(pause*3/4 + rand.N(pause/2))
		pause = min(2*pause, p.Most)
	}
	return err
}
