package routes

import (
	"flag"
	"fmt"
	"testing"
)

var private = flag.Bool("private", false, "each answer has a network of its own")

func BenchmarkPlan(b *testing.B) {
	n := &Network{Depots: map[string]Depot{}}
	for i := range 60 {
		d := Depot{Lat: 47 + float64(i)/17, Lon: 8 + float64(i)/13}
		for k := 1; k <= 4; k++ {
			d.Next = append(d.Next, Leg{fmt.Sprintf("depot %d", (i+k*k)%60), 10 * k})
		}
		n.Depots[fmt.Sprintf("depot %d", i)] = d
	}
	p := &Planner{Network: n, Private: *private}
	i := 0
	for b.Loop() {
		i++
		if _, err := p.Plan("depot 3", fmt.Sprintf("depot %d", i%60)); err != nil {
			b.Fatal(err)
		}
	}
}
