// Package fleet describes ploughs and their orders.
package fleet

import "fmt"

// Order sends a plough to a street.
type Order struct {
	Version int
	Street  string
	Salt    int
	Stops   []int
}

// Plough is a vehicle.
type Plough struct {
	ID   int
	Name string
}

// Make returns n ploughs.
func Make(n int) []Plough {
	out := make([]Plough, n)
	for i := range out {
		out[i] = Plough{ID: i, Name: fmt.Sprintf("plough-%04d", i)}
	}
	return out
}
