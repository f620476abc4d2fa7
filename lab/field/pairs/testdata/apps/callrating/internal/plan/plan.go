// Package plan says what a minute costs, where and when.
package plan

import (
	"time"
	_ "time/tzdata"
)

// Band is a part of the week with its own price.
type Band int

const (
	Night Band = iota
	Day
	Weekend
)

// Plan is a price plan of a country.
type Plan struct {
	loc      *time.Location
	holidays map[time.Time]bool
	prices   map[string][3]int64
	longest  int
}

func New(zone string) (*Plan, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, err
	}
	p := &Plan{loc: loc, holidays: make(map[time.Time]bool), prices: make(map[string][3]int64)}
	for _, d := range []string{"2026-01-01", "2026-04-03", "2026-04-06", "2026-05-01", "2026-12-25"} {
		t, err := time.ParseInLocation(time.DateOnly, d, loc)
		if err != nil {
			return nil, err
		}
		p.holidays[t] = true
	}
	for i, c := range []string{"", "49", "4930", "33", "44", "39", "48", "43", "31", "91", "81", "1", "61", "813"} {
		base := int64(120 + i*37)
		p.prices[c] = [3]int64{base / 2, base, base * 2 / 3}
		p.longest = max(p.longest, len(c))
	}
	return p, nil
}

// Price gives the prices of a number, in hundredths of a cent for a unit.
func (p *Plan) Price(called string) [3]int64 {
	for n := min(p.longest, len(called)); n > 0; n-- {
		if pr, ok := p.prices[called[:n]]; ok {
			return pr
		}
	}
	return p.prices[""]
}

// BandAt tells the band of a moment.
func (p *Plan) BandAt(t time.Time) Band {
	b, _ := p.bandUntil(t.In(p.loc))
	return b
}

// Until tells the band of a moment, and when it ends.
func (p *Plan) Until(t time.Time) (Band, time.Time) {
	l := t.In(p.loc)
	b, hour := p.bandUntil(l)
	y, m, d := l.Date()
	return b, time.Date(y, m, d, hour, 0, 0, 0, p.loc)
}

func (p *Plan) bandUntil(l time.Time) (Band, int) {
	y, m, d := l.Date()
	wd := l.Weekday()
	if wd == time.Saturday || wd == time.Sunday || p.holidays[time.Date(y, m, d, 0, 0, 0, 0, p.loc)] {
		return Weekend, 24
	}
	switch h := l.Hour(); {
	case h < 7:
		return Night, 7
	case h < 20:
		return Day, 20
	}
	return Night, 24
}
