// Command harvestlots grades the grain that farmers deliver.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"harvestlots/internal/intake"
	"harvestlots/internal/lots"
	"harvestlots/internal/scope"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 2000, "lots per second")
	fresh := flag.Bool("fresh", true, "serve in the fresh way")
	flag.Parse()

	ctx := scope.WithTariff(context.Background(), map[string]float64{"elite": 245, "bread": 221, "standard": 203, "feed": 178})
	var stations []*intake.Station
	for i := range 3 {
		stations = append(stations, &intake.Station{Name: fmt.Sprintf("silo-%d", i), Fresh: *fresh})
	}
	intake.Season(ctx, stations, lots.Messages(rand.New(rand.NewPCG(2, 9)), 2000), *rate, *d)

	var taken, cents, failed int64
	for _, s := range stations {
		taken += s.Taken.Load()
		cents += s.Cents.Load()
		failed += s.Failed.Load()
	}
	fmt.Printf("operations: %d\n", taken)
	fmt.Printf("failed %d, value %d\n", failed, cents/100)
}
