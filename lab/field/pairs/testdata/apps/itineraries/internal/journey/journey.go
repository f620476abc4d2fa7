// Package journey puts journeys in order.
package journey

import (
	"fmt"
	"slices"
	"time"

	"itineraries/internal/bookings"
)

const layout = "Mon, 02 Jan 2006 15:04 MST"

// A Planner sorts legs.
type Planner struct{ ReadFirst bool }

func starts(l *bookings.Leg) time.Time {
	t, err := time.Parse(layout, l.Starts)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Order sorts legs by their starts.
func (p *Planner) Order(legs []bookings.Leg) error {
	if p.ReadFirst {
		sortRead(legs)
	} else {
		slices.SortStableFunc(legs, func(a, b bookings.Leg) int { return starts(&a).Compare(starts(&b)) })
	}
	if starts(&legs[0]).IsZero() {
		return fmt.Errorf("leg from %s starts never", legs[0].From)
	}
	return nil
}

// sortRead sorts by times that are read once.
func sortRead(legs []bookings.Leg) {
	type timed struct {
		leg bookings.Leg
		at  time.Time
	}
	all := make([]timed, len(legs))
	for i := range legs {
		all[i] = timed{legs[i], starts(&legs[i])}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	for i := range all {
		legs[i] = all[i].leg
	}
}
