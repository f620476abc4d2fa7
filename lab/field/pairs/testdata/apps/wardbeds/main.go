// Command wardbeds keeps the bed board of a hospital and its wall displays.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"slices"
	"time"

	"wardbeds/internal/board"
	"wardbeds/internal/feed"
	"wardbeds/internal/link"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 6000, "messages and questions per second")
	pages := flag.Bool("pages", true, "refresh the displays by way of pages")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go link.Serve(ln, 2*time.Millisecond)

	const wards, beds = 14, 32
	b := board.New(wards, beds)
	refresh := b.Refresh
	if *pages {
		refresh = b.RefreshPages
	}
	for range 2 {
		d, err := link.Dial(ln.Addr().String())
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			for range time.Tick(150 * time.Millisecond) {
				if err := refresh(d); err != nil {
					log.Print(err)
					return
				}
			}
		}()
	}

	res := feed.Run(b, 48, *rate, wards, beds, time.Now().Add(*span))
	fmt.Printf("operations: %d\n", len(res.Times))
	fmt.Printf("%d rejected, %d free beds offered\n", res.Bad, res.Free)
	slices.Sort(res.Times)
	fmt.Printf("p50 %v p99 %v\n", res.Times[len(res.Times)/2], res.Times[len(res.Times)*99/100])
}
