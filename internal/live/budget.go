package live

import "time"

// A meter measures what this process takes of a CPU, over the last ten seconds.
type meter struct {
	now    func() time.Time
	used   func() time.Duration
	points []point
}

type point struct {
	at   time.Time
	used time.Duration
}

const meterWindow = 10 * time.Second

// share is how many cores this process has used.
func (m *meter) share() float64 {
	p := point{m.now(), m.used()}
	m.points = append(m.points, p)
	for len(m.points) > 2 && p.at.Sub(m.points[1].at) >= meterWindow {
		m.points = m.points[1:]
	}
	wall := p.at.Sub(m.points[0].at)
	if wall <= 0 {
		return 0
	}
	return (p.used - m.points[0].used).Seconds() / wall.Seconds()
}

// slowest bounds the time between refreshes, however dear they are.
const slowest = 10 * time.Second

// pace is how long to wait between refreshes: what was asked for, or longer, so
// that a refresh of such a cost stays within a budget.
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
