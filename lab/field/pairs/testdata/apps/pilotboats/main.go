// Command pilotboats tells traffic desks and followers where pilot boats are.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"pilotboats/internal/client"
	"pilotboats/internal/hub"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	boats := flag.Int("boats", 12, "number of boats")
	v2 := flag.Bool("v2", true, "second version of the hub")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	h := hub.New(*v2)
	go h.Serve(ln)
	rests := []time.Duration{0, 0, 0, 90 * time.Millisecond, 0, 0, 0, 120 * time.Millisecond, 0, 0}
	for _, rest := range rests {
		go client.Follow(ctx, ln.Addr().String(), rest)
	}
	var wg sync.WaitGroup
	for i := range *boats {
		wg.Go(func() { client.Sail(ctx, h, i, 100*time.Millisecond) })
	}
	var desk client.Desk
	for range 24 {
		wg.Go(func() { desk.Work(ctx, h, *boats, 20*time.Millisecond) })
	}
	wg.Wait()
	ln.Close()
	sent, missed := h.Counts()
	fmt.Printf("operations: %d\n", len(desk.Took))
	fmt.Printf("answers: p50 %v p99 %v, mean distance %.1f nm\n", desk.Quantile(.5), desk.Quantile(.99), desk.Miles/float64(len(desk.Took)))
	fmt.Printf("lines: %d handed on, %d not\n", sent, missed)
}
