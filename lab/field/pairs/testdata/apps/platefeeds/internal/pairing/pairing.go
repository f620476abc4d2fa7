// Package pairing finds the car that passes the second camera among those that passed the first.
package pairing

import "platefeeds/internal/sightings"

type entry struct {
	s    sightings.Sighting
	next *entry
}

// Table has the cars on the way, by plate.
type Table struct {
	slots []*entry
	spare *entry
	wide  bool
	n     int
}

// NewTable returns a table of 1<<bits slots.
func NewTable(bits int, wide bool) *Table {
	return &Table{slots: make([]*entry, 1<<bits), wide: wide}
}

// Len is how many cars are on the way.
func (t *Table) Len() int { return t.n }

func (t *Table) slot(plate string) **entry {
	return &t.slots[t.code(plate)&uint32(len(t.slots)-1)]
}

func (t *Table) code(plate string) uint32 {
	var h uint32
	if t.wide {
		for i := range len(plate) {
			h = (h ^ uint32(plate[i])) * 0x01000193
		}
		return h ^ h>>15
	}
	for i := range len(plate) {
		h = h<<8 | uint32(plate[i])
	}
	return h
}

// Put notes a car at the first camera.
func (t *Table) Put(s sightings.Sighting) {
	e := t.spare
	if e == nil {
		e = new(entry)
	} else {
		t.spare = e.next
	}
	at := t.slot(s.Plate)
	e.s, e.next = s, *at
	*at = e
	t.n++
}

// Take returns the first sighting of a plate, and forgets it.
func (t *Table) Take(plate string) (sightings.Sighting, bool) {
	for at := t.slot(plate); *at != nil; at = &(*at).next {
		if e := *at; e.s.Plate == plate {
			*at = e.next
			return t.free(e), true
		}
	}
	return sightings.Sighting{}, false
}

// Expire forgets the cars that left the road before the second camera.
func (t *Table) Expire(before int64) int {
	gone := 0
	for i := range t.slots {
		for at := &t.slots[i]; *at != nil; {
			if e := *at; e.s.Millis < before {
				*at = e.next
				t.free(e)
				gone++
				continue
			}
			at = &(*at).next
		}
	}
	return gone
}

func (t *Table) free(e *entry) sightings.Sighting {
	s := e.s
	e.s, e.next = sightings.Sighting{}, t.spare
	t.spare = e
	t.n--
	return s
}
