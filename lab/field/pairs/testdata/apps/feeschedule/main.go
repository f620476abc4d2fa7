// Command feeschedule compiles the fee schedules of a payment provider's
// tenants and replays a day's payments against them.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"feeschedule/internal/quote"
	"feeschedule/internal/schedule"
	"feeschedule/internal/tenants"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	next := flag.Bool("next", true, "use the next scanner")
	flag.Parse()

	sources := tenants.Sources(40)
	day := tenants.Payments(400)

	var compiled, clauses, cents atomic.Int64
	var turn atomic.Uint64
	var wg sync.WaitGroup
	end := time.Now().Add(*run)
	for range 3 {
		wg.Go(func() {
			for time.Now().Before(end) {
				src := sources[turn.Add(1)%uint64(len(sources))]
				s, err := schedule.Compile(src, *next)
				if err != nil {
					log.Print(err)
					continue
				}
				clauses.Add(int64(len(s.Clauses)))
				cents.Add(quote.Day(s, day))
				compiled.Add(1)
			}
		})
	}
	wg.Wait()

	fmt.Printf("operations: %d\n", compiled.Load())
	fmt.Printf("%d clauses, fees of %.2f\n", clauses.Load(), float64(cents.Load())/100)
}
