// Panoramas plays tours through rooms, whose pictures are decoded as they come.
package main

import (
	"flag"
	"fmt"
	"log"

	"panoramas/internal/gallery"
	"panoramas/internal/keep"
	"panoramas/internal/play"
)

func main() {
	rooms := flag.Int("rooms", 60, "rooms of the house")
	tours := flag.Int("tours", 60, "tours through all of them")
	room := flag.Int("keep", 64, "pictures that are kept decoded")
	flag.Parse()
	g := gallery.New(*rooms)
	p := play.Player{Pictures: keep.New(*room, g.Decode), Rooms: *rooms}
	light := 0
	for range *tours {
		n, err := p.Tour()
		if err != nil {
			log.Fatal(err)
		}
		light += n
	}
	fmt.Println("light:", light, "decoded:", g.Decoded())
	fmt.Printf("operations: %d\n", *tours**rooms)
}
