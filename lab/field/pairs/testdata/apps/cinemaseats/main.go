// Command cinemaseats looks for free seats in many cinemas.
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

	"cinemaseats/internal/boxoffice"
	"cinemaseats/internal/client"
	"cinemaseats/internal/seating"
	"cinemaseats/internal/venue"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	fronted := flag.Bool("fronted", true, "addressing mode")
	flag.Parse()

	gw, err := boxoffice.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer gw.Close()
	c := client.New(gw.Addr, *fronted)
	layouts := venue.NewLayouts()
	ctx := context.Background()
	end := time.Now().Add(*run)
	var ops, failed, groups atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(w), 77))
			for time.Now().Before(end) {
				id := r.IntN(venue.Count)
				s, err := c.Seats(ctx, id, r.IntN(5000))
				if err != nil {
					failed.Add(1)
					continue
				}
				for _, b := range seating.Best(layouts.Get(id), s.Taken, 8) {
					if b.Row >= 0 {
						groups.Add(1)
					}
				}
				ops.Add(1)
			}
		}()
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("%d blocks found, %d failed, %d calls\n", groups.Load(), failed.Load(), gw.Calls.Load())
}
