// Tramfeed carries the positions of trams to the screens of stops and depots, which
// subscribe to lines over TCP. One of the screens hangs on a radio link. Here trams report
// so many positions a second.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"tramfeed/internal/cars"
	"tramfeed/internal/hub"
	"tramfeed/internal/screens"
)

func main() {
	rate := flag.Int("rate", 600, "positions a second")
	positions := flag.Int("positions", 3000, "positions that are reported")
	watchers := flag.Int("screens", 12, "screens at stops")
	outbox := flag.Int("outbox", 0, "positions kept for a screen until it takes them (0: none)")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	h := hub.New(hub.Options{Outbox: *outbox, Buffer: 4 << 10})
	go h.Serve(l)

	wall := screens.Wall{Addr: l.Addr().String()}
	for n := range *watchers {
		if err := wall.Hang(n%3, screens.Stop); err != nil {
			log.Fatal(err)
		}
	}
	if err := wall.Hang(1, screens.Depot); err != nil {
		log.Fatal(err)
	}
	h.Await(*watchers+1, 5*time.Second)

	fleet := cars.Fleet{Hub: h, Rate: *rate}
	fleet.Run(*positions)
	shown := wall.Await(*positions**watchers/3, 20*time.Second)
	fmt.Printf("%d positions, shown %d times at stops\n", *positions, shown)
	fmt.Printf("operations: %d\n", *positions)
}
