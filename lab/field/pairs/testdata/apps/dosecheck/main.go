// Command dosecheck checks prescriptions against patient charts.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"dosecheck/internal/chart"
	"dosecheck/internal/review"
	"dosecheck/internal/ward"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 700, "prescriptions per second and ward")
	v2 := flag.Bool("v2", true, "second version of the service")
	flag.Parse()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	desk := review.NewDesk(ctx, chart.NewArchive(2000), 15*time.Minute, *v2)

	load, done := context.WithTimeout(context.Background(), *run)
	defer done()
	var t ward.Tally
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ward.Round(load, desk, uint64(w), *rate, &t)
		}()
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", t.Checked.Load()+t.Withdrawn.Load())
	fmt.Printf("%d refused, %d withdrawn, %d open\n", t.Refused.Load(), t.Withdrawn.Load(), desk.Open())
}
