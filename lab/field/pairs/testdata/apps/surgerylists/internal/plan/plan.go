// Package plan orders the cases of a theatre.
package plan

import (
	"slices"
	"strings"
	"time"

	"surgerylists/internal/feed"
)

// Planner orders cases by start, then urgency, then patient.
type Planner struct {
	Resolved bool
}

func startOf(c *feed.Case) time.Time {
	t, err := time.Parse(feed.Layout, c.Start)
	if err != nil {
		return time.Time{}
	}
	return t
}

func tie(a, b *feed.Case) int {
	if a.Urgency != b.Urgency {
		return b.Urgency - a.Urgency
	}
	return strings.Compare(a.Patient, b.Patient)
}

func byStart(a, b *feed.Case) int {
	if c := startOf(a).Compare(startOf(b)); c != 0 {
		return c
	}
	return tie(a, b)
}

type resolved struct {
	at time.Time
	c  *feed.Case
}

// Order returns the cases in the order of the day.
func (p Planner) Order(cases []feed.Case) []*feed.Case {
	out := make([]*feed.Case, len(cases))
	if !p.Resolved {
		for i := range cases {
			out[i] = &cases[i]
		}
		slices.SortFunc(out, byStart)
		return out
	}
	rs := make([]resolved, len(cases))
	for i := range cases {
		rs[i] = resolved{startOf(&cases[i]), &cases[i]}
	}
	slices.SortFunc(rs, func(a, b resolved) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return tie(a.c, b.c)
	})
	for i := range rs {
		out[i] = rs[i].c
	}
	return out
}

// Overruns counts the minutes by which cases of one theatre overlap.
func (p Planner) Overruns(ordered []*feed.Case) int {
	free := make(map[string]time.Time, 12)
	over := 0
	for _, c := range ordered {
		at := startOf(c)
		if until := free[c.Theatre]; until.After(at) {
			over += int(until.Sub(at).Minutes())
			at = until
		}
		free[c.Theatre] = at.Add(time.Duration(c.Minutes) * time.Minute)
	}
	return over
}
