// Package figures computes what reports say about marks.
package figures

import (
	"slices"

	"schoolreports/internal/school"
)

// Mean is that of the marks of a year in a subject.
func Mean(y *school.Year, subject int) float64 {
	sum := 0
	for _, p := range y.Pupils {
		sum += p.Marks[subject]
	}
	return float64(sum) / float64(len(y.Pupils))
}

// Median is the mark in the middle.
func Median(y *school.Year, subject int) int {
	return sorted(y, subject)[len(y.Pupils)/2]
}

// Place is which place a mark has in its year.
func Place(y *school.Year, subject, mark int) int {
	marks := sorted(y, subject)
	i, _ := slices.BinarySearch(marks, mark+1)
	return len(marks) - i + 1
}

func sorted(y *school.Year, subject int) []int {
	marks := make([]int, 0, len(y.Pupils))
	for _, p := range y.Pupils {
		marks = append(marks, p.Marks[subject])
	}
	slices.Sort(marks)
	return marks
}

// A Table has the figures of all subjects of a year.
type Table struct {
	means  []float64
	sorted [][]int
}

// Tabulate computes them.
func Tabulate(y *school.Year) *Table {
	t := &Table{}
	for s := range school.Subjects {
		t.means = append(t.means, Mean(y, s))
		t.sorted = append(t.sorted, sorted(y, s))
	}
	return t
}

// Mean is that of a subject.
func (t *Table) Mean(subject int) float64 { return t.means[subject] }

// Median is that of a subject.
func (t *Table) Median(subject int) int { return t.sorted[subject][len(t.sorted[subject])/2] }

// Place is that of a mark.
func (t *Table) Place(subject, mark int) int {
	i, _ := slices.BinarySearch(t.sorted[subject], mark+1)
	return len(t.sorted[subject]) - i + 1
}
