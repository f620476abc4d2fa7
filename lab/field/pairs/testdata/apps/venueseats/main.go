// Venueseats sells the seats of concert halls.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"log"
	"math/rand"
	"sync"
	"time"

	"venueseats/internal/booking"
	"venueseats/internal/shelf"
	"venueseats/internal/venue"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 4500, "requests per second")
	shared := flag.Bool("shared", true, "share events between requests")
	flag.Parse()

	var events []*venue.Event
	for id := range 24 {
		events = append(events, venue.NewEvent(id, 8, 9, 24))
	}
	desk := booking.New(shelf.New(events, *shared))

	var mu sync.Mutex
	var ops, holds, bytes int
	var sum uint32
	const workers = 6
	var wg sync.WaitGroup
	begin := time.Now()
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewSource(int64(w)))
			n, held, size := 0, 0, 0
			var crc uint32
			for {
				past := time.Since(begin)
				if past > *d {
					break
				}
				for due := int(past.Seconds() * float64(*rate) / workers); n < due; n++ {
					id := rng.Intn(24)
					if n%12 == 0 {
						if ok, err := desk.Toggle(id, rng.Intn(8), rng.Intn(9), rng.Intn(20), 2, int64(n)); err != nil {
							log.Fatal(err)
						} else if ok {
							held++
						}
						continue
					}
					b, err := desk.Offers(id, 1+rng.Intn(4))
					if err != nil {
						log.Fatal(err)
					}
					size += len(b)
					crc = crc32.Update(crc, crc32.IEEETable, b)
				}
				time.Sleep(2 * time.Millisecond)
			}
			mu.Lock()
			ops, holds, bytes = ops+n, holds+held, bytes+size
			sum ^= crc
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops)
	fmt.Printf("holds: %d, bytes: %d, checksum %08x\n", holds, bytes, sum)
}
