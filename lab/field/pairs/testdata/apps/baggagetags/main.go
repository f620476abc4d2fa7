// Command baggagetags follows bags through the hall of an airport.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"baggagetags/internal/belt"
	"baggagetags/internal/tracker"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 2000, "bags a second on each belt")
	v2 := flag.Bool("v2", true, "second version of the tracker")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	t := tracker.New(*v2)
	belts := make([]*belt.Belt, 4)
	var wg sync.WaitGroup
	for i := range belts {
		belts[i] = &belt.Belt{No: i + 1, Tracker: t, Rate: *rate}
		wg.Go(func() { belts[i].Run(ctx) })
	}
	wg.Wait()
	var n, bytes, bad int
	for _, b := range belts {
		n += b.Readings
		bytes += b.Bytes
		bad += b.Bad
	}
	inside, weight, claimed := t.Summary()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("inside: %d (%d kg), claimed: %d, journeys: %d bytes, bad: %d\n", inside, weight, claimed, bytes, bad)
}
