// Package atlas has the depots, lockers and shops of a continent.
package atlas

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"depotatlas/internal/geo"
)

// Entry is a place as callers see it.
type Entry struct {
	ID     uint32
	Name   string
	Street string
	Kind   string
	Point  geo.Point
}

// Atlas finds places by cell.
type Atlas interface {
	Add(e Entry)
	Each(c geo.Cell, fn func(Entry))
	Len() int
}

type place struct {
	id     uint32
	name   *string
	street *string
	tags   map[string]string
	point  *geo.Point
	next   *place
}

type linked struct {
	cells map[geo.Cell]*place
	byID  map[uint32]*place
}

// NewLinked returns an atlas of linked places.
func NewLinked() Atlas {
	return &linked{cells: make(map[geo.Cell]*place), byID: make(map[uint32]*place)}
}

func (l *linked) Add(e Entry) {
	c := geo.CellOf(e.Point)
	p := &place{id: e.ID, name: &e.Name, street: &e.Street, tags: map[string]string{"kind": e.Kind}, point: &e.Point, next: l.cells[c]}
	l.cells[c] = p
	l.byID[e.ID] = p
}

func (l *linked) Each(c geo.Cell, fn func(Entry)) {
	for p := l.cells[c]; p != nil; p = p.next {
		fn(Entry{ID: p.id, Name: *p.name, Street: *p.street, Kind: p.tags["kind"], Point: *p.point})
	}
}

func (l *linked) Len() int { return len(l.byID) }

type row struct {
	id       uint32
	next     int32
	at       uint32
	name     uint8
	street   uint8
	kind     uint8
	lat, lon float64
}

type flat struct {
	cells map[geo.Cell]int32
	rows  []row
	text  strings.Builder
	kinds []string
}

// NewFlat returns an atlas of rows.
func NewFlat() Atlas { return &flat{cells: make(map[geo.Cell]int32)} }

func (f *flat) Add(e Entry) {
	c := geo.CellOf(e.Point)
	kind := -1
	for i, k := range f.kinds {
		if k == e.Kind {
			kind = i
		}
	}
	if kind < 0 {
		kind = len(f.kinds)
		f.kinds = append(f.kinds, e.Kind)
	}
	r := row{
		id: e.ID, next: f.cells[c], at: uint32(f.text.Len()), name: uint8(len(e.Name)), street: uint8(len(e.Street)),
		kind: uint8(kind), lat: e.Point.Lat, lon: e.Point.Lon,
	}
	f.text.WriteString(e.Name)
	f.text.WriteString(e.Street)
	f.rows = append(f.rows, r)
	f.cells[c] = int32(len(f.rows))
}

func (f *flat) Each(c geo.Cell, fn func(Entry)) {
	text := f.text.String()
	for i := f.cells[c]; i > 0; {
		r := &f.rows[i-1]
		mid := r.at + uint32(r.name)
		fn(Entry{
			ID: r.id, Name: text[r.at:mid], Street: text[mid : mid+uint32(r.street)],
			Kind: f.kinds[r.kind], Point: geo.Point{Lat: r.lat, Lon: r.lon},
		})
		i = r.next
	}
}

func (f *flat) Len() int { return len(f.rows) }

var kinds = []string{"depot", "locker", "shop", "office"}

// Fill puts n places into an atlas.
func Fill(a Atlas, n int) {
	rng := rand.New(rand.NewPCG(12, 34))
	for i := range n {
		a.Add(Entry{
			ID: uint32(i), Name: fmt.Sprintf("Station %d", i), Street: fmt.Sprintf("%d Mill Lane", rng.IntN(400)),
			Kind:  kinds[rng.IntN(len(kinds))],
			Point: geo.Point{Lat: 36 + 24*rng.Float64(), Lon: -9 + 39*rng.Float64()},
		})
	}
}
