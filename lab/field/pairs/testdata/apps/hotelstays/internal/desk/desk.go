// Package desk is the daily work of a front desk.
package desk

import (
	"fmt"
	"math/rand/v2"
	"time"

	"hotelstays/internal/folio"
	"hotelstays/internal/registry"
)

// Totals counts what a desk has done.
type Totals struct {
	Ops, Arrivals, Departures, Opened, Refused int
	Revenue                                    int64
}

func (t Totals) Plus(o Totals) Totals {
	return Totals{t.Ops + o.Ops, t.Arrivals + o.Arrivals, t.Departures + o.Departures, t.Opened + o.Opened, t.Refused + o.Refused, t.Revenue + o.Revenue}
}

// Desk serves a range of rooms.
type Desk struct {
	reg    *registry.Registry
	tariff *folio.Tariff
	first  int
	rooms  []*registry.Stay
	rnd    *rand.Rand
	totals Totals
}

func New(reg *registry.Registry, tariff *folio.Tariff, number, rooms int) *Desk {
	return &Desk{reg: reg, tariff: tariff, first: number * rooms, rooms: make([]*registry.Stay, rooms), rnd: rand.New(rand.NewPCG(uint64(number), 5))}
}

// Shift serves n guests, one after the other.
func (d *Desk) Shift(n int) {
	for range n {
		i := d.rnd.IntN(len(d.rooms))
		switch s := d.rooms[i]; {
		case s == nil:
			d.arrive(i)
		case len(s.Lines) >= 9:
			d.depart(i)
		default:
			d.serve(i)
		}
		d.totals.Ops++
	}
}

func (d *Desk) arrive(i int) {
	plate := ""
	if d.rnd.IntN(3) > 0 {
		plate = d.plate()
	}
	s, err := d.reg.CheckIn(fmt.Sprintf("Guest %06d", d.rnd.IntN(1000000)), d.first+i, plate)
	if err != nil {
		return
	}
	d.rooms[i] = s
	d.totals.Arrivals++
}

func (d *Desk) serve(i int) {
	s := d.rooms[i]
	for range 1 + d.rnd.IntN(3) {
		if err := d.reg.Post(s.Room, d.tariff.Charge(d.rnd.IntN(2000), time.Now())); err != nil {
			return
		}
	}
	if s.Plate == "" {
		return
	}
	if d.rnd.IntN(9) == 0 {
		if err := d.reg.SetPlate(s.ID, d.plate()); err != nil {
			return
		}
	}
	if d.reg.MayLeave(s.Plate) {
		d.totals.Opened++
	} else {
		d.totals.Refused++
	}
	// the bill on the television of the room
	if _, err := folio.Close(s.Guest, s.Lines); err != nil {
		d.totals.Refused++
	}
}

func (d *Desk) depart(i int) {
	s, err := d.reg.CheckOut(d.rooms[i].Room)
	if err != nil {
		return
	}
	d.rooms[i] = nil
	inv, err := folio.Close(s.Guest, s.Lines)
	if err != nil {
		return
	}
	d.totals.Departures++
	d.totals.Revenue += inv.Total
}

func (d *Desk) plate() string {
	return fmt.Sprintf("%c%c-%c%c %04d", 'A'+d.rnd.IntN(26), 'A'+d.rnd.IntN(26), 'A'+d.rnd.IntN(26), 'A'+d.rnd.IntN(26), d.rnd.IntN(10000))
}

// Totals tells what the desk has done so far.
func (d *Desk) Totals() Totals {
	return d.totals
}
