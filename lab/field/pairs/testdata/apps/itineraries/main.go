// Itineraries puts the legs of journeys into the order in which they start.
package main

import (
	"flag"
	"fmt"
	"log"

	"itineraries/internal/bookings"
	"itineraries/internal/journey"
)

func main() {
	journeys := flag.Int("journeys", 1500, "journeys to put in order")
	legs := flag.Int("legs", 120, "legs of each")
	read := flag.Bool("read-first", false, "read times before sorting")
	flag.Parse()
	p := journey.Planner{ReadFirst: *read}
	late := 0
	for i := range *journeys {
		all := bookings.Legs(i, *legs)
		if err := p.Order(all); err != nil {
			log.Fatal(err)
		}
		if all[0].From == "Basel" {
			late++
		}
	}
	fmt.Println("from Basel:", late)
	fmt.Printf("operations: %d\n", *journeys)
}
