// Command meterfeeds collects the readings of electricity meters that a few
// substations forward over TCP.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"meterfeeds/internal/collect"
	"meterfeeds/internal/ledger"
	"meterfeeds/internal/station"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	stations := flag.Int("stations", 6, "number of substations")
	next := flag.Bool("next", true, "use the next link layer")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	key := []byte("grid-west/2031")
	book := ledger.New()
	server := &collect.Server{Book: book, Key: key, Next: *next}
	go server.Serve(ln)

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	var wg sync.WaitGroup
	for i := range *stations {
		wg.Go(func() {
			s := station.Station{ID: uint64(i + 1), Key: key}
			if err := s.Forward(ctx, ln.Addr().String()); err != nil {
				log.Printf("station %d: %v", i+1, err)
			}
		})
	}
	wg.Wait()
	ln.Close()

	fmt.Printf("operations: %d\n", server.Frames.Load())
	meters, wh := book.Totals()
	fmt.Printf("%d meters, %d kWh, %d frames refused\n", meters, wh/1000, server.Refused.Load())
}
