// Package timetable knows when ferries go.
package timetable

import (
	"fmt"
	"sort"
)

// A Departure is a ferry.
type Departure struct {
	Minute int // of the day
	Ship   string
}

// A Table has the departures of each pier, by minute.
type Table struct{ piers map[string][]Departure }

var ships = []string{"Halvor", "Ingrid", "Saga", "Tordenskjold", "Fram"}

// Generate makes up the table of so many piers.
func Generate(piers int) *Table {
	t := &Table{piers: map[string][]Departure{}}
	for p := range piers {
		var list []Departure
		for m := 5*60 + p%17; m < 23*60; m += 11 + p%9 {
			list = append(list, Departure{m, ships[(m+p)%len(ships)]})
		}
		t.piers[Pier(p)] = list
	}
	return t
}

// Pier is the name of a pier.
func Pier(n int) string { return fmt.Sprintf("pier-%02d", n) }

// Next is the first departure that is not before a minute.
func (t *Table) Next(pier string, minute int) (Departure, bool) {
	list := t.piers[pier]
	i := sort.Search(len(list), func(i int) bool { return list[i].Minute >= minute })
	if i == len(list) {
		return Departure{}, false
	}
	return list[i], true
}
