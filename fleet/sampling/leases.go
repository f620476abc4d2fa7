package sampling

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// mostLapses bounds how long a version waits whose recordings do not arrive.
const mostLapses = 5

// sweepEvery is how often what is old is forgotten: there may be many agents.
const sweepEvery = 15 * time.Second

// expire ends what has had its time.
func (p *Plan) expire() {
	now := p.now()
	for s, l := range p.leases {
		if !now.Before(l.end) {
			p.lapse(s)
		}
	}
	if now.Sub(p.swept) < sweepEvery {
		return
	}
	p.swept = now
	maps.DeleteFunc(p.lapsed, func(_ Subject, l lapse) bool { return now.Sub(l.until) > patience })
	maps.DeleteFunc(p.seen, func(_ Subject, at presence) bool { return now.Sub(at.at) >= present })
	maps.DeleteFunc(p.asked, func(tenant string, at time.Time) bool {
		old := now.Sub(at) >= present
		if old {
			delete(p.triggers, tenant)
			delete(p.growing, tenant)
		}
		return old
	})
	p.wishes = slices.DeleteFunc(p.wishes, func(w wish) bool { return now.Sub(w.at) >= patience })
}

// lapse ends a lease whose recording did not come. The version is tried again, later each
// time: what cannot be recorded is not to hold a place for ever.
func (p *Plan) lapse(s Subject) {
	delete(p.leases, s)
	p.count.Lapsed++
	before, known := p.lapsed[s]
	if !known && len(p.lapsed) >= mostKnown {
		return
	}
	n := min(before.n+1, mostLapses)
	p.lapsed[s] = lapse{n, p.now().Add(transfer << (n - 1))}
}

// words returns a duration as one says it.
func words(d time.Duration) string {
	if d == time.Hour {
		return "an hour"
	}
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
