// Package traffic simulates the trams of a town.
package traffic

import (
	"math"
	"math/rand/v2"

	"tramschedule/internal/agenda"
	"tramschedule/internal/network"
	"tramschedule/internal/stats"
)

type tram struct {
	line, leg int32
	load      int32
	due       float64
}

// Day is a simulated day.
type Day struct {
	town    *network.Town
	ahead   agenda.Agenda
	rnd     *rand.Rand
	trams   []tram
	waiting []float64
	last    []float64
	Delays  *stats.Delays
	Carried int
	Events  int
}

// NewDay starts a day of a town, with all departures of the trams planned.
func NewDay(t *network.Town, ahead agenda.Agenda, seed uint64, d *stats.Delays) *Day {
	day := &Day{town: t, ahead: ahead, rnd: rand.New(rand.NewPCG(seed, 3)), Delays: d,
		waiting: make([]float64, t.Stops), last: make([]float64, t.Stops)}
	for n, l := range t.Lines {
		for at := 5 * 3600.0; at < 24*3600; at += l.Headway {
			day.trams = append(day.trams, tram{line: int32(n), due: at})
			ahead.Put(agenda.Event{At: at, Kind: agenda.Arrive, Tram: int32(len(day.trams) - 1), Line: int32(n), Stop: l.Stops[0]})
		}
	}
	return day
}

// Step lets the next thing happen.
func (d *Day) Step() bool {
	e, ok := d.ahead.Take()
	if !ok {
		return false
	}
	d.Events++
	t := &d.trams[e.Tram]
	switch e.Kind {
	case agenda.Arrive:
		off := min(t.load, int32(d.rnd.IntN(int(t.load)+1)))
		t.load -= off
		e.Kind, e.Count = agenda.Board, d.queue(e.Stop, e.At)
		e.At += 8 + 0.7*float64(off)
		d.ahead.Put(e)
	case agenda.Board:
		on := min(e.Count, 220-t.load)
		t.load += on
		d.Carried += int(on)
		e.Kind = agenda.Signal
		e.At += 4 + 1.1*float64(on)
		d.ahead.Put(e)
	case agenda.Signal:
		if phase := math.Mod(e.At+float64(e.Stop)*17, 72); phase > 40 {
			e.At += 72 - phase
		}
		e.Kind = agenda.Depart
		d.ahead.Put(e)
	case agenda.Depart:
		d.depart(t, e)
	}
	return true
}

func (d *Day) depart(t *tram, e agenda.Event) {
	l := &d.town.Lines[e.Line]
	took := l.Seconds[t.leg]
	t.due += took + 25
	t.leg++
	e.At += took * (0.9 + 0.25*d.rnd.ExpFloat64())
	e.Delay = e.At - t.due
	d.Delays.Add(e.Delay)
	if int(t.leg) < len(l.Stops) {
		e.Kind, e.Stop = agenda.Arrive, l.Stops[t.leg]
		d.ahead.Put(e)
	}
}

// queue returns how many came to a stop since the last tram.
func (d *Day) queue(stop int32, at float64) int32 {
	gap := max(at-d.last[stop], 0)
	d.last[stop] = at
	peak := 1 + 2*math.Exp(-math.Pow((at/3600-8)/1.2, 2)) + 1.6*math.Exp(-math.Pow((at/3600-17)/1.8, 2))
	d.waiting[stop] += min(gap, 900) * 0.02 * peak * (0.5 + d.rnd.Float64())
	n := math.Floor(d.waiting[stop])
	d.waiting[stop] -= n
	return int32(n)
}
