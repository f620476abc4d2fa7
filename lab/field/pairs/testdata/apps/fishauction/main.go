// Command fishauction runs the bids of a harbour's fish auction.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fishauction/internal/bids"
	"fishauction/internal/journal"
	"fishauction/internal/ledger"
	"fishauction/internal/wire"
)

func bid(rng *rand.Rand) bids.Bid {
	return bids.Bid{
		Crate: rng.IntN(3000), Buyer: fmt.Sprintf("buyer-%03d", rng.IntN(240)), Cents: 100 + rng.IntN(5000),
		Species: []string{"cod", "hake", "plaice", "monkfish", "turbot"}[rng.IntN(5)], Grade: []string{"E", "A", "B"}[rng.IntN(3)],
		Kilos: float64(rng.IntN(4000)) / 100, Vessel: fmt.Sprintf("PZ %d", rng.IntN(900)),
		Notes: []string{"landed at quay 4 before dawn", "kept on ice since Tuesday", "gutted and washed on board"}[:1+rng.IntN(3)],
	}
}

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	flat := flag.Bool("flat", true, "flat format of the journal")
	flag.Parse()

	book := bids.New()
	j := journal.New(wire.Choose(*flat), 8192)
	led := ledger.New(j)
	var ops, low, sold atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*span)
	for w := range 2 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 8))
			for n := 0; time.Now().Before(end); n++ {
				b := bid(rng)
				ops.Add(1)
				if err := book.Accept(b); errors.Is(err, bids.ErrLow) {
					low.Add(1)
					sold.Add(int64(book.Close(b.Crate)))
					continue
				}
				if err := j.Append(wire.Event{Kind: "bid", Bid: b}); err != nil {
					log.Fatal(err)
				}
				seq, _ := j.Size()
				if err := led.Apply(seq); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	wg.Wait()
	events, size := j.Size()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("%d low bids, sold for %d, %d events in %d bytes, %d booked for %d buyers\n", low.Load(), sold.Load(), events, size, led.Seen, led.Buyers())
}
