// Command tollbeacons is the hub of a road toll system together with its beacons.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"tollbeacons/internal/beacon"
	"tollbeacons/internal/gate"
	"tollbeacons/internal/plates"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 160, "visits of beacons a second")
	tidy := flag.Bool("tidy", true, "tidy sessions")
	flag.Parse()

	index := plates.NewIndex([]byte("toll road 9"))
	hub, err := gate.Listen(index, gate.Options{Tidy: *tidy})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Shutdown()

	const roads = 4
	var acked, failed atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for road := range roads {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(road), 5))
			for n := 0; time.Since(began) < *dur; {
				for due := int(time.Since(began).Seconds() * float64(*rate/roads)); n < due; n++ {
					got, err := beacon.Visit(hub.Addr(), road*1000+n%200, 12, r)
					acked.Add(int64(got))
					if err != nil {
						failed.Add(1)
					}
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	sightings, districts, broken := index.Totals()
	fmt.Printf("operations: %d\n", acked.Load())
	fmt.Printf("sightings %d in %d districts, broken %d, failed visits %d, sessions %d\n",
		sightings, districts, broken, failed.Load(), hub.Sessions())
}
