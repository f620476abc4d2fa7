// Heatmaps smooths maps of temperatures that satellites have measured.
package main

import (
	"flag"
	"fmt"
	"log"

	"heatmaps/internal/raster"
	"heatmaps/internal/smooth"
)

func main() {
	side := flag.Int("side", 3000, "length of a side")
	rounds := flag.Int("rounds", 6, "how often the map is smoothed")
	order := flag.String("order", "rows", "how the map is gone through: rows or columns")
	flag.Parse()
	m := raster.Measure(*side)
	s, err := smooth.New(*order)
	if err != nil {
		log.Fatal(err)
	}
	for range *rounds {
		m = s.Apply(m)
	}
	fmt.Printf("middle: %.3f\n", m.At(*side/2, *side/2))
	fmt.Printf("operations: %d\n", *rounds)
}
