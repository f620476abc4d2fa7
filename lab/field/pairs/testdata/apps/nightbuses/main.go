// Nightbuses sells tickets for the buses that run at night.
package main

import (
	"flag"
	"fmt"
	"time"

	"nightbuses/internal/journeys"
	"nightbuses/internal/riders"
	"nightbuses/internal/streets"
)

func main() {
	end := time.Now()
	d := flag.Duration("for", 5*time.Second, "how long to run")
	table := flag.String("table", "rows", "table of journeys: rows or full")
	stops := flag.Int("stops", 2600, "stops of the region")
	rate := flag.Int("rate", 50000, "riders a second")
	flag.Parse()
	end = end.Add(*d)

	region := streets.Read(*stops)
	desk := &riders.Desk{Region: region, Table: journeys.New(region, *table == "full"), Key: []byte("night-desk")}
	desk.Sell(*rate, end)
	fmt.Printf("operations: %d\n", desk.Sold)
	fmt.Printf("paid: %d.%02d, tickets: %d bytes, no way: %d\n", desk.Cents/100, desk.Cents%100, desk.Bytes, desk.Closed)
}
