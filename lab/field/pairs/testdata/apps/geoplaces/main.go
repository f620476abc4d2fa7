// Geoplaces answers which place is at a code, out of a million.
package main

import (
	"flag"
	"fmt"
	"log"

	"geoplaces/internal/answer"
	"geoplaces/internal/places"
)

func main() {
	n := flag.Int("places", 700000, "places that are known")
	asks := flag.Int("asks", 4000000, "questions")
	packed := flag.Bool("packed", false, "keep names in one text")
	flag.Parse()
	var index answer.Index
	if *packed {
		index = places.NewPacked(*n)
	} else {
		index = places.NewTree(*n)
	}
	desk := answer.Desk{Index: index}
	size := 0
	for i := range *asks {
		text, err := desk.Answer(uint32(i) * 2654435761 % uint32(*n))
		if err != nil {
			log.Fatal(err)
		}
		size += len(text)
	}
	fmt.Println("letters:", size)
	fmt.Printf("operations: %d\n", *asks)
}
