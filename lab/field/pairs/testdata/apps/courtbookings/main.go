// Command courtbookings books tennis courts for clubs.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"courtbookings/internal/api"
	"courtbookings/internal/courts"
	"courtbookings/internal/desk"
	"courtbookings/internal/quota"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	clubs := flag.Int("clubs", 1500, "clubs with an account")
	rate := flag.Int("rate", 6000, "calls a second")
	v2 := flag.Bool("v2", true, "second version of the limits")
	flag.Parse()

	limit := func() quota.Limiter { return quota.NewBucket(50, 10) }
	if *v2 {
		limit = func() quota.Limiter { return quota.NewMeter(50, 10) }
	}
	a := api.New(courts.NewPlan(), limit)
	until := time.Now().Add(*length)
	var total atomic.Int64
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			n, err := desk.Run(a.Book, *clubs, *rate/2, uint64(i), until)
			if err != nil {
				log.Print(err)
			}
			total.Add(int64(n))
		})
	}
	wg.Wait()
	a.Close()
	fmt.Printf("operations: %d\n", total.Load())
	fmt.Printf("booked: %d, refused: %d\n", a.Booked.Load(), a.Refused.Load())
}
