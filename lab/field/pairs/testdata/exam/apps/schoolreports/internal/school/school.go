// Package school has pupils and their marks.
package school

import "fmt"

// Subjects are what marks are given in.
var Subjects = []string{"Art", "Biology", "Chemistry", "English", "History", "Mathematics", "Music", "Physics"}

// A Pupil has a mark in each subject, from 0 to 100.
type Pupil struct {
	Name  string
	House string
	Marks []int
}

// A Year is all who began together.
type Year struct {
	Name   string
	Pupils []*Pupil
}

var (
	given  = []string{"Ada", "Ben", "Chloe", "Dev", "Esme", "Finn", "Gwen", "Hugo", "Iris", "Jon"}
	family = []string{"Archer", "Brook", "Cole", "Dale", "Ellis", "Frost", "Grant", "Hale", "Irwin", "Joyce", "Knight"}
	houses = []string{"Beech", "Elm", "Oak", "Rowan"}
)

// Generate makes up a year.
func Generate(n, pupils int) *Year {
	y := &Year{Name: fmt.Sprintf("Year %d, school %d", 7+n%6, 1+n/6)}
	state := uint32(n+1) * 2654435761
	for i := range pupils {
		p := &Pupil{Name: given[i%len(given)] + " " + family[(i*7+n)%len(family)], House: houses[(i+n)%len(houses)]}
		for range Subjects {
			state = state*1664525 + 1013904223
			p.Marks = append(p.Marks, 35+int(state>>26))
		}
		y.Pupils = append(y.Pupils, p)
	}
	return y
}
