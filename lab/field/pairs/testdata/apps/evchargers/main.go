// Command evchargers is the central system of charge points together with a
// park of simulated ones.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"evchargers/internal/billing"
	"evchargers/internal/central"
	"evchargers/internal/station"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	points := flag.Int("points", 600, "charge points")
	nudge := flag.Bool("nudge", true, "nudge mode of sessions")
	flag.Parse()

	sys, err := central.Listen(billing.New(), *nudge)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	var answered, spent atomic.Int64
	for i := range *points {
		wg.Go(func() {
			p := station.New(i)
			if err := p.Run(ctx, sys.Addr(), 300*time.Millisecond); err != nil {
				fmt.Fprintln(os.Stderr, "point:", err)
			}
			answered.Add(int64(p.Answered))
			spent.Add(int64(p.Spent))
		})
	}
	wg.Wait()
	sys.Close()
	fmt.Printf("operations: %d\n", answered.Load())
	if n := answered.Load(); n > 0 {
		fmt.Printf("billed %.2f EUR, mean answer %v\n", sys.Billed(), time.Duration(spent.Load()/n).Round(10*time.Microsecond))
	}
}
