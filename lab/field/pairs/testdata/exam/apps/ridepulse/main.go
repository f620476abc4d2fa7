// Ridepulse takes the requests for rides of a city and publishes how much is asked for in
// each zone, as a figure of the last five minutes that moves on with every second.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"ridepulse/internal/feed"
	"ridepulse/internal/surge"
	"ridepulse/internal/window"
)

func main() {
	rate := flag.Int("rate", 4000, "requests for rides a second")
	length := flag.Duration("for", 6*time.Second, "how long requests come")
	speed := flag.Int("speed", 20, "seconds of the city's clock in a second")
	state := flag.String("state", "windows", "what the aggregation keeps: windows or panes")
	flag.Parse()
	layout := window.Layout{Size: 300, Slide: 1}
	agg, err := window.New(*state, layout)
	if err != nil {
		log.Fatal(err)
	}
	board := surge.NewBoard(agg, 48)
	source := feed.NewSource(*rate, *speed, 1741608000)
	lines := make(chan []string, 64)
	go source.Run(*length, lines)
	for batch := range lines {
		if err := board.Handle(batch); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("published:", board.Published(), "last:", board.Top(3))
	fmt.Printf("operations: %d\n", board.Requests())
}
