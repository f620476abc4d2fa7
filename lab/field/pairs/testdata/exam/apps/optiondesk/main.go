// Optiondesk prices the options of a desk by simulation.
package main

import (
	"flag"
	"fmt"
	"log"
	"runtime"

	"optiondesk/internal/draws"
	"optiondesk/internal/market"
	"optiondesk/internal/pricing"
)

func main() {
	contracts := flag.Int("contracts", 60, "contracts of the desk")
	paths := flag.Int("paths", 1500, "paths simulated for each")
	seed := flag.Int64("seed", 20240229, "what makes a run repeatable")
	source := flag.String("source", "session", "where draws come from: session or worker")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "contracts priced at once")
	flag.Parse()

	src, err := draws.Open(*source, *seed)
	if err != nil {
		log.Fatal(err)
	}
	d := pricing.NewDesk(src, *workers, *paths)
	quotes := d.Price(market.Contracts(*contracts))
	var sum float64
	for _, q := range quotes {
		sum += q.Value
	}
	log.Printf("%d contracts are worth %.2f", len(quotes), sum)
	fmt.Printf("operations: %d\n", len(quotes)*(*paths))
}
