// Harbourberths gives berths to ships, which wait until one is free.
package main

import (
	"flag"
	"fmt"
	"sync"

	"harbourberths/internal/harbour"
	"harbourberths/internal/ship"
)

func main() {
	ships := flag.Int("ships", 400, "ships that come and go")
	visits := flag.Int("visits", 120, "visits of each")
	berths := flag.Int("berths", 3, "berths of the harbour")
	call := flag.String("call", "next", "who is called when a berth is free: next or all")
	flag.Parse()
	h := harbour.New(*berths, *call == "all")
	var wg sync.WaitGroup
	for i := range *ships {
		s := ship.New(i)
		wg.Go(func() {
			for range *visits {
				s.Visit(h)
			}
		})
	}
	wg.Wait()
	fmt.Println("visits:", h.Visits())
	fmt.Printf("operations: %d\n", *ships**visits)
}
