// Package rating prices calls.
package rating

import (
	"time"

	"callrating/internal/cdr"
	"callrating/internal/plan"
)

// Unit is the billing increment.
const Unit = 6 * time.Second

type Charge struct {
	Units [3]int
	Cost  int64
}

type Rater struct {
	plan  *plan.Plan
	spans bool
}

func New(p *plan.Plan, spans bool) *Rater { return &Rater{p, spans} }

// Rate prices a call; a unit costs what the band of its begin says.
func (r *Rater) Rate(c *cdr.Record) Charge {
	var ch Charge
	if r.spans {
		r.countSpans(c, &ch)
	} else {
		r.countUnits(c, &ch)
	}
	price := r.plan.Price(c.Called)
	for b, n := range ch.Units {
		ch.Cost += int64(n) * price[b]
	}
	return ch
}

func (r *Rater) countUnits(c *cdr.Record, ch *Charge) {
	end := c.Start.Add(c.Duration)
	for t := c.Start; t.Before(end); t = t.Add(Unit) {
		ch.Units[r.plan.BandAt(t)]++
	}
}

func (r *Rater) countSpans(c *cdr.Record, ch *Charge) {
	end := c.Start.Add(c.Duration)
	for t := c.Start; t.Before(end); {
		b, until := r.plan.Until(t)
		if until.After(end) {
			until = end
		}
		n := int((until.Sub(t) + Unit - 1) / Unit)
		ch.Units[b] += n
		t = t.Add(time.Duration(n) * Unit)
	}
}
