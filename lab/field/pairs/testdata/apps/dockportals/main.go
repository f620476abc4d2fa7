// Command dockportals books the pallets that pass the portals of a warehouse.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"time"

	"dockportals/internal/chain"
	"dockportals/internal/frames"
	"dockportals/internal/warehouse"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the chain")
	flag.Parse()

	owners := warehouse.NewOwners()
	end := time.Now().Add(*span)
	var mu sync.Mutex
	var reads, moves int
	var digest uint64
	var wg sync.WaitGroup
	for w := range uint32(2) {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 12))
			var j warehouse.Journal
			c := chain.New(owners, &j)
			handle := c.Sight
			if *v2 {
				handle = c.Code
			}
			for ms := uint32(0); time.Now().Before(end); ms += 1000 {
				if err := frames.Decode(frames.Sample(w*8+ms/1000%8, 400, ms, rnd), handle); err != nil {
					log.Fatal(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			reads, moves, digest = reads+c.Reads, moves+j.Moves, digest^j.Digest
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", reads)
	fmt.Printf("%d moves booked, journal %016x\n", moves, digest)
}
