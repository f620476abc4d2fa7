// Command parcelhooks tells a carrier what happens to its parcels.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"parcelhooks/internal/carrier"
	"parcelhooks/internal/certs"
	"parcelhooks/internal/dispatch"
	"parcelhooks/internal/events"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	workers := flag.Int("workers", 16, "notices under way at a time")
	round := flag.Duration("round", 40*time.Millisecond, "time between two rounds of the sorting hubs")
	tuned := flag.Bool("tuned", true, "use the settings of the second release")
	flag.Parse()

	secret := []byte("harbour-seven")
	cert, roots, err := certs.Pair("carrier.example")
	if err != nil {
		log.Fatal(err)
	}
	end := carrier.New(secret, 4*time.Millisecond)
	url, err := end.Start(cert)
	if err != nil {
		log.Fatal(err)
	}
	sender := dispatch.New(dispatch.Config{URL: url, Secret: secret, Roots: roots, Workers: *workers, Tuned: *tuned})

	var serial, done, failed atomic.Int64
	stop := time.Now().Add(*length)
	var wg sync.WaitGroup
	for w := range *workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 99))
			tick := time.NewTicker(*round)
			defer tick.Stop()
			for now := range tick.C {
				if now.After(stop) {
					return
				}
				n := events.Collect(rng, "northpost", serial.Add(1))
				if _, err := sender.Deliver(context.Background(), n); err != nil {
					failed.Add(1)
					continue
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()

	fmt.Printf("operations: %d\n", done.Load())
	fmt.Printf("scans taken %d, notices failed %d\n", end.Scans(), failed.Load())
}
