package census

import (
	"flag"
	"testing"
)

var sized = flag.Bool("sized", false, "make maps of the right size")

func BenchmarkStreets(b *testing.B) {
	var people []Person
	var houses []House
	for i := range uint32(20000) {
		houses = append(houses, House{i * 2654435761, i % 300})
	}
	for i := range uint32(60000) {
		people = append(people, Person{i, houses[i*7%20000].ID, uint16(1920 + i%100)})
	}
	j := &Join{*sized}
	for b.Loop() {
		if got := j.Streets(people, houses); len(got) != 300 {
			b.Fatal(len(got))
		}
	}
}
