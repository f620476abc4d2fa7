package cpu

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Places of the same cost keep an order that does not depend on a map's.
func TestComparePlaces(t *testing.T) {
	place := func(share float64, function, file string, line int) Line {
		return Line{Place: diagnosis.Place{Function: function, File: file, Line: line}, Share: share}
	}
	sorted := []Line{place(0.5, "b", "b.go", 9), place(0.2, "a", "a.go", 7), place(0.2, "a", "b.go", 3), place(0.2, "a", "b.go", 4), place(0.2, "b", "a.go", 1)}
	for i := range sorted {
		for j := range sorted {
			got, want := compareLines(sorted[i], sorted[j]), i-j
			if got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Errorf("compareLines(%+v, %+v) = %d, want the sign of %d", sorted[i], sorted[j], got, want)
			}
		}
	}
	shuffled := []Line{sorted[3], sorted[1], sorted[4], sorted[0], sorted[2]}
	slices.SortFunc(shuffled, compareLines)
	if !slices.EqualFunc(shuffled, sorted, func(a, b Line) bool { return a.Place == b.Place }) {
		t.Errorf("sorted places %+v, want %+v", shuffled, sorted)
	}
}
