// Package lab grades samples.
package lab

import (
	"hash/fnv"
	"strconv"

	"dairypools/internal/intake"
)

// Graded is a sample with its grade and price.
type Graded struct {
	intake.Sample
	Grade byte
	Cents int
	Seal  uint64
}

// Grade gives a sample its grade.
func Grade(s intake.Sample) Graded {
	g := Graded{Sample: s, Grade: 'A'}
	switch {
	case s.Cells > 400:
		g.Grade = 'C'
	case s.Cells > 250 || s.Fat < 370:
		g.Grade = 'B'
	}
	return g
}

// Price adds the price of the collection.
func Price(g Graded) Graded {
	per := 38*1000 + (g.Fat-400)*28 + (g.Protein-340)*45
	switch g.Grade {
	case 'B':
		per -= 900
	case 'C':
		per -= 2600
	}
	g.Cents = g.Litres * per / 1000
	return g
}

// Seal adds a check value.
func Seal(g Graded) Graded {
	h := fnv.New64a()
	var buf [64]byte
	b := strconv.AppendInt(buf[:0], int64(g.Farm), 10)
	b = append(b, g.Grade)
	b = strconv.AppendInt(b, int64(g.Cents), 10)
	h.Write(b)
	g.Seal = h.Sum64()
	return g
}
