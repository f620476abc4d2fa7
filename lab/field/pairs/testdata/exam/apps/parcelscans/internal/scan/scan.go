// Package scan makes up what the scanners of belts see.
package scan

import (
	"fmt"
	"math/rand"

	"parcelscans/internal/ids"
)

// Steps are the places that a parcel is scanned at, one after the other.
var Steps = []string{"induct", "sort", "load", "depart"}

// A Scan is a label that was read.
type Scan struct {
	Parcel uint64  `json:"parcel,string"`
	Step   string  `json:"step"`
	At     int64   `json:"at"`
	Label  string  `json:"label"`
	Check  int     `json:"check"`
	Weight float64 `json:"weight"`
}

// A Belt has parcels between their first and last scan.
type Belt struct {
	makers []*ids.Maker
	rnd    *rand.Rand
	now    int64
	moving []Scan
}

// NewBelt returns a belt whose parcels are registered by a number of machines.
func NewBelt(machines int) *Belt {
	b := &Belt{rnd: rand.New(rand.NewSource(17)), now: ids.Epoch + 31_000_000_000}
	for m := range machines {
		b.makers = append(b.makers, ids.NewMaker(m))
	}
	return b
}

// Next returns the next scan.
func (b *Belt) Next() Scan {
	b.now += int64(b.rnd.Intn(3))
	for len(b.moving) < 200 {
		b.moving = append(b.moving, b.register())
	}
	i := b.rnd.Intn(len(b.moving))
	s := &b.moving[i]
	s.At = b.now
	out := *s
	for n, step := range Steps {
		if step != s.Step {
			continue
		}
		if n == len(Steps)-1 {
			b.moving[i] = b.register()
		} else {
			s.Step = Steps[n+1]
		}
		break
	}
	return out
}

func (b *Belt) register() Scan {
	b.now += int64(b.rnd.Intn(3))
	id := b.makers[b.rnd.Intn(len(b.makers))].Next(b.now)
	label := fmt.Sprintf("JD%018d", id)
	return Scan{Parcel: id, Step: Steps[0], Label: label, Check: Digit(label), Weight: float64(50+b.rnd.Intn(30000)) / 1000}
}

// Digit is the check digit of a label.
func Digit(label string) int {
	sum := 0
	for i := range len(label) {
		d := int(label[i] % 10)
		if i%2 == 0 {
			d *= 3
		}
		sum += d
	}
	return (10 - sum%10) % 10
}
