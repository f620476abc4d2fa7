// Package retry repeats calls that may succeed later.
package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Permanent marks an error that no repetition mends.
type Permanent struct{ Err error }

func (p Permanent) Error() string { return p.Err.Error() }

// Unwrap returns the error itself.
func (p Permanent) Unwrap() error { return p.Err }

// Policy says how long to wait between attempts.
type Policy struct {
	Base   time.Duration // before the second attempt, then twice as long each time
	Max    time.Duration // at most
	Jitter float64       // share of the delay that is random
}

// Standard is the policy for services of the same site.
var Standard = Policy{Base: 50 * time.Millisecond, Max: 400 * time.Millisecond, Jitter: 0.3}

// Or takes what p leaves open from q.
func (p Policy) Or(q Policy) Policy {
	if p.Base == 0 {
		p.Base = q.Base
	}
	if p.Max == 0 {
		p.Max = q.Max
	}
	if p.Jitter == 0 {
		p.Jitter = q.Jitter
	}
	return p
}

func (p Policy) delay(attempt int) time.Duration {
	d := p.Base << min(attempt, 16)
	if d > p.Max {
		d = p.Max
	}
	return d - time.Duration(p.Jitter*rand.Float64()*float64(d))
}

// Do calls f until it succeeds, fails for good, or the context ends.
func Do(ctx context.Context, p Policy, f func(context.Context) error) error {
	for attempt := 0; ; attempt++ {
		err := f(ctx)
		var perm Permanent
		if err == nil || errors.As(err, &perm) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(p.delay(attempt)):
		}
	}
}
