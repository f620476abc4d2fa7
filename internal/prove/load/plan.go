package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// arrivals are the times at which operations are due, in order. They are
// computed and never stored: two of the same plan agree however far apart they
// are, so that one counts what came due while the other hands out.
type arrivals struct {
	stages []Stage
	random *rand.Rand // nil for even distances
	left   int64      // of the counted ones; negative without an end
	counts time.Duration

	stage  int
	begin  time.Duration // of the stage
	before float64       // arrivals before the stage
	mass   float64       // where in the plan the next one is, in arrivals

	at   time.Duration // of the next one
	more bool
}

// newArrivals plans the warm-up and the stages after it.
func newArrivals(o *Options) *arrivals {
	a := &arrivals{counts: o.Warmup, left: -1}
	if o.Warmup > 0 {
		first := o.Stages[0].From
		a.stages = append(a.stages, Stage{first, first, o.Warmup})
	}
	a.stages = append(a.stages, o.Stages...)
	if o.Count > 0 {
		a.left = o.Count
	}
	if o.Poisson {
		a.random = rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15))
		a.mass = a.random.ExpFloat64()
	}
	a.find()
	return a
}

// end returns when the last stage ends.
func (a *arrivals) end() (d time.Duration) {
	for _, s := range a.stages {
		d += s.For
	}
	return d
}

// tiny keeps rounding from planning one operation too many.
const tiny = 1e-6

// find places the next arrival: the inverse of the integral of the rate.
func (a *arrivals) find() {
	for ; a.stage < len(a.stages); a.stage++ {
		s := a.stages[a.stage]
		all := (s.From + s.To) / 2 * s.For.Seconds()
		if m := a.mass - a.before; m < all-tiny {
			a.at, a.more = a.begin+s.inverse(m), a.left != 0
			return
		}
		a.before += all
		a.begin += s.For
	}
	a.more = false
}

// inverse returns the time x at which m arrivals of the stage are through:
// From·x + (To-From)/For·x²/2 = m.
func (s Stage) inverse(m float64) time.Duration {
	if m <= 0 {
		return 0
	}
	slope := (s.To - s.From) / s.For.Seconds()
	x := 2 * m / (s.From + math.Sqrt(max(0, s.From*s.From+2*slope*m)))
	return min(time.Duration(x*1e9), s.For)
}

func (a *arrivals) next() {
	if a.left > 0 && a.at >= a.counts {
		a.left--
	}
	if a.random == nil {
		a.mass++
	} else {
		a.mass += a.random.ExpFloat64()
	}
	a.find()
}

// countPassed counts the arrivals up to now, those of earlier calls not again.
func (a *arrivals) countPassed(now time.Duration) (n, counted int64) {
	for ; a.more && a.at <= now; a.next() {
		n++
		if a.at >= a.counts {
			counted++
		}
	}
	return n, counted
}
