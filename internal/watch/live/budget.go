package live

import "time"

// meterWindow is over which time the share of a CPU is meant.
const meterWindow = 10 * time.Second

// slowest bounds the time between refreshes, however dear they are.
const slowest = 10 * time.Second

// pace returns how long to wait between refreshes: what was asked for, or longer, so that a
// refresh of such a cost stays within a budget.
func pace(every, cost time.Duration, budget float64) time.Duration {
	if budget <= 0 {
		return every
	}
	return min(max(every, time.Duration(float64(cost)/budget)), max(every, slowest))
}

// A due tells when something dear is done again.
type due struct{ next time.Time }

func (d *due) is(now time.Time) bool { return !now.Before(d.next) }

// took notes what it cost: it is done again when that is a given share of the time.
func (d *due) took(now time.Time, cost time.Duration, share float64) {
	d.next = now.Add(time.Duration(float64(cost) / share))
}
