// Gridcounters counts what sensors of a power grid report, by kind.
package main

import (
	"flag"
	"fmt"
	"sync"

	"gridcounters/internal/counters"
	"gridcounters/internal/sensor"
)

func main() {
	reports := flag.Int("reports", 60_000_000, "reports of each station")
	stations := flag.Int("stations", 2, "stations that count at once")
	apart := flag.Bool("apart", false, "let the counters of stations lie apart")
	flag.Parse()
	table := counters.NewTable(*stations, *apart)
	var wg sync.WaitGroup
	for n := range *stations {
		feed := sensor.NewFeed(uint32(n + 1))
		wg.Go(func() {
			for range *reports {
				table.Count(n, feed.Next())
			}
		})
	}
	wg.Wait()
	fmt.Println("alarms:", table.Sum(sensor.Alarm), "of", table.All())
	fmt.Printf("operations: %d\n", *reports**stations)
}
