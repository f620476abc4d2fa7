// Command auctionroom runs an auction with many short visits.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"auctionroom/internal/bus"
	"auctionroom/internal/hall"
	"auctionroom/internal/lot"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	swap := flag.Bool("swap", true, "swap views of a lot")
	flag.Parse()

	const lots = 24
	b := bus.New(lots)
	h := &hall.Hall{Bus: b, House: lot.NewHouse(lots, b), Lots: lots, Swap: *swap}
	end := time.Now().Add(*run)
	results := make([]hall.Result, 2)
	var wg sync.WaitGroup
	for w := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			res, err := h.Run(uint64(w), end)
			if err != nil {
				log.Print(err)
			}
			results[w] = res
		}()
	}
	wg.Wait()
	var sum hall.Result
	for _, r := range results {
		sum.Visits += r.Visits
		sum.Bids += r.Bids
		sum.Bytes += r.Bytes
	}
	fmt.Printf("operations: %d\n", sum.Visits)
	fmt.Printf("%d bids, %d kB\n", sum.Bids, sum.Bytes>>10)
}
