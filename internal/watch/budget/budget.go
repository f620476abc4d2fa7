// Package budget measures what this process itself takes of the machine, for those who
// watch others and promise to cost little.
//
// It hides the system's clock of CPU time and over which time a share of it is meant.
// [Meter] is its type.
package budget

import "time"

// A Meter measures what this process takes of a CPU, over a window that ends now. Use
// it from one goroutine.
type Meter struct {
	window time.Duration
	now    func() time.Time
	used   func() time.Duration
	points []point
}

type point struct {
	at   time.Time
	used time.Duration
}

// NewMeter returns a meter over a window of time. What was used so far is [OwnCPU], or that
// and what the caller knows that it costs elsewhere.
func NewMeter(window time.Duration, now func() time.Time, used func() time.Duration) *Meter {
	m := &Meter{window: window, now: now, used: used}
	m.Share()
	return m
}

// Share returns how many cores this process has used. Call it now and then: the window is as
// exact as that.
func (m *Meter) Share() float64 {
	p := point{m.now(), m.used()}
	m.points = append(m.points, p)
	for len(m.points) > 2 && p.at.Sub(m.points[1].at) >= m.window {
		m.points = m.points[1:]
	}
	wall := p.at.Sub(m.points[0].at)
	if wall <= 0 {
		return 0
	}
	return (p.used - m.points[0].used).Seconds() / wall.Seconds()
}
