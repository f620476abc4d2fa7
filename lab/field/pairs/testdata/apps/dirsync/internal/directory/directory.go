// Package directory has the people of an office.
package directory

import (
	"fmt"
	"maps"
	"slices"
)

// A Person is in the directory.
type Person struct {
	Name     string
	Room     string
	Phones   []string
	Groups   map[string]bool
	Address  Address
	Revision int
}

// An Address is where post goes.
type Address struct{ Street, Town, Code string }

// A Directory is all of them.
type Directory struct{ people []*Person }

// New makes people up.
func New(n int) *Directory {
	d := &Directory{}
	for i := range n {
		d.people = append(d.people, &Person{
			Name: fmt.Sprintf("person-%05d", i), Room: fmt.Sprint("room ", i%400),
			Phones:  []string{fmt.Sprintf("+41 %07d", i), fmt.Sprintf("+49 %07d", i)},
			Groups:  map[string]bool{"staff": true, fmt.Sprint("floor-", i%9): true, fmt.Sprint("team-", i%77): i%2 == 0},
			Address: Address{fmt.Sprint("Street ", i%500), "Town", fmt.Sprint(1000 + i%9000)},
		})
	}
	return d
}

// Move gives a person another room.
func (d *Directory) Move(i int, room string) {
	p := *d.people[i]
	p.Room, p.Revision = room, p.Revision+1
	p.Phones, p.Groups = slices.Clone(p.Phones), maps.Clone(p.Groups)
	d.people[i] = &p
}

// Read is the directory as it is now, each person a copy.
func (d *Directory) Read() []Person {
	out := make([]Person, len(d.people))
	for i, p := range d.people {
		out[i] = *p
	}
	return out
}
