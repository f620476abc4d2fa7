// Package lanes unloads lorries and clears the store again.
package lanes

import (
	"bytes"
	"errors"
	"math/rand"

	"palletstore/internal/bays"
	"palletstore/internal/intake"
	"palletstore/internal/labels"
)

type standing struct {
	at     bays.Place
	number uint32
	kg     int
}

// Lane is a gate with its own printer.
type Lane struct {
	Plan    *bays.Plan
	Rng     *rand.Rand
	printer labels.Printer
	stock   []standing

	Stored, Refused int
	Mark            [32]byte
}

// Unload puts the pallets of a note away; when the store fills up, older ones leave.
func (l *Lane) Unload(note []byte, room int) error {
	list, err := intake.Read(bytes.NewReader(note))
	if err != nil {
		return err
	}
	gate := l.Rng.Intn(800)
	for i := range list {
		p := &list[i]
		at, number, err := l.Plan.Store(p, gate)
		if errors.Is(err, bays.ErrFull) {
			l.Refused++
			continue
		}
		l.Stored++
		l.Mark = l.printer.Print(p, at)
		l.stock = append(l.stock, standing{at, number, p.Kg})
	}
	for len(l.stock) > room {
		k := l.Rng.Intn(len(l.stock))
		s := l.stock[k]
		l.stock[k] = l.stock[len(l.stock)-1]
		l.stock = l.stock[:len(l.stock)-1]
		l.Plan.Clear(s.at, s.number, s.kg)
	}
	return nil
}
