// Package calendar knows the working days of the regions.
package calendar

import (
	"slices"
	"sync"
	"time"
)

// Region is a region with its own days off.
type Region struct {
	Code     string
	holidays []Holiday

	years sync.Map // year → *[367]bool
}

// Observed returns the days off of a year in order.
func (r *Region) Observed(year int) []time.Time {
	days := make([]time.Time, 0, len(r.holidays))
	for _, h := range r.holidays {
		days = append(days, h.On(year))
	}
	slices.SortFunc(days, time.Time.Compare)
	return days
}

// Closed reports whether nobody works in the region on the day of t.
func (r *Region) Closed(t time.Time) bool {
	if wd := t.Weekday(); wd == time.Saturday || wd == time.Sunday {
		return true
	}
	yd := t.YearDay()
	for _, h := range r.Observed(t.Year()) {
		if h.YearDay() == yd {
			return true
		}
	}
	return false
}

// ClosedIn is Closed by the region's year sheet.
func (r *Region) ClosedIn(t time.Time) bool {
	if wd := t.Weekday(); wd == time.Saturday || wd == time.Sunday {
		return true
	}
	return r.sheet(t.Year())[t.YearDay()]
}

func (r *Region) sheet(year int) *[367]bool {
	if s, ok := r.years.Load(year); ok {
		return s.(*[367]bool)
	}
	s := new([367]bool)
	for _, h := range r.Observed(year) {
		s[h.YearDay()] = true
	}
	r.years.Store(year, s)
	return s
}

// Rule tells whether a region is closed on a day.
type Rule func(r *Region, t time.Time) bool

// Add returns the n-th working day after t.
func (rule Rule) Add(r *Region, t time.Time, n int) time.Time {
	for n > 0 {
		t = t.AddDate(0, 0, 1)
		if !rule(r, t) {
			n--
		}
	}
	return t
}
