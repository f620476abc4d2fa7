// Package route knows the sectors of a country.
package route

import "fmt"

// A Map is a grid of sectors.
type Map struct{ size int }

// Grid makes a map of sectors with a length of side.
func Grid(side int) *Map { return &Map{side} }

// Sector is the name of the sector of a place.
func (m *Map) Sector(x, y int) string { return fmt.Sprintf("%d/%d", x/m.size, y/m.size) }
