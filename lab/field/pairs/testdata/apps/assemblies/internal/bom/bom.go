// Package bom holds the structure of a machine: assemblies, their parts and attributes.
package bom

import (
	"fmt"
	"math/rand/v2"
)

type Kind int

const (
	Part Kind = iota
	Assembly
)

func (k Kind) String() string {
	if k == Assembly {
		return "assembly"
	}
	return "part"
}

// Item is a node of a bill of materials.
type Item struct {
	Kind     Kind
	Number   string
	Title    string
	Quantity int
	Grams    float64
	Notes    []string
	Items    []*Item
}

// Weight sums the weight of the item and everything in it.
func (it *Item) Weight() float64 {
	w := it.Grams
	for _, c := range it.Items {
		w += c.Weight()
	}
	return w * float64(it.Quantity)
}

// Count returns the number of lines below and including the item.
func (it *Item) Count() int {
	n := 1
	for _, c := range it.Items {
		n += c.Count()
	}
	return n
}

var titles = []string{"bearing, 6204", "hex screw M8", "washer 8.4 mm", "gear wheel z=42", "seal ring", "housing left", "shaft & key", "plate 3 mm"}

// Machine makes up the structure of one product with the given nesting.
func Machine(r *rand.Rand, product, depth int) *Item {
	root := &Item{Kind: Assembly, Number: fmt.Sprintf("P-%05d", product), Title: "gearbox", Quantity: 1}
	level := root
	for d := range depth {
		for range 5 + r.IntN(4) {
			level.Items = append(level.Items, part(r))
		}
		sub := &Item{
			Kind:     Assembly,
			Number:   fmt.Sprintf("A-%05d-%02d", product, d),
			Title:    "sub-assembly " + titles[r.IntN(len(titles))],
			Quantity: 1 + r.IntN(2),
		}
		level.Items = append(level.Items, sub)
		level = sub
	}
	level.Items = append(level.Items, part(r))
	return root
}

func part(r *rand.Rand) *Item {
	it := &Item{
		Kind:     Part,
		Number:   fmt.Sprintf("%08d", r.IntN(1e8)),
		Title:    titles[r.IntN(len(titles))],
		Quantity: 1 + r.IntN(12),
		Grams:    float64(r.IntN(90000)) / 100,
	}
	if r.IntN(3) == 0 {
		it.Notes = []string{"torque 25 Nm", "see drawing sheet 4"}
	}
	return it
}
