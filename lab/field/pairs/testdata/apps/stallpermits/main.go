// Command stallpermits shows the permits of a market to its inspectors.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"stallpermits/internal/board"
	"stallpermits/internal/inspect"
	"stallpermits/internal/office"
	"stallpermits/internal/permits"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	handsets := flag.Int("handsets", 300, "handsets that follow a stall each")
	rate := flag.Int("rate", 250, "permits a second")
	v2 := flag.Bool("v2", true, "second version of the board")
	flag.Parse()

	b := board.New(*v2)
	seal := permits.NewSeal("market square")
	ctx, cancel := context.WithCancel(context.Background())
	var totals inspect.Totals
	var wg sync.WaitGroup
	for i := range *handsets {
		h := &inspect.Handset{Stall: i, Board: b, Seal: seal}
		wg.Go(func() { h.Follow(ctx, &totals) })
	}
	clerk := &office.Clerk{Board: b, Seal: seal, Stalls: *handsets}
	n, err := clerk.Work(*rate, time.Now().Add(*length))
	if err != nil {
		log.Fatal(err)
	}
	cancel()
	wg.Wait()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("permits seen: %d, fees: %d\n", totals.Seen.Load(), totals.Fees.Load())
}
