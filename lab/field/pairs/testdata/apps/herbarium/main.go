// Command herbarium shows the sheets of a plant collection.
package main

import (
	"flag"
	"fmt"
	"log"
	"runtime"
	"sync"
	"time"

	"herbarium/internal/archive"
	"herbarium/internal/lookup"
	"herbarium/internal/recount"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 250, "pages a second")
	every := flag.Duration("every", 1500*time.Millisecond, "time between recounts")
	v2 := flag.Bool("v2", true, "second version of the recount")
	flag.Parse()

	a, err := archive.Open(60, 150)
	if err != nil {
		log.Fatal(err)
	}
	width := 48
	if *v2 {
		width = max(1, runtime.GOMAXPROCS(0)/2)
	}
	census := &recount.Census{}
	job := &recount.Job{Archive: a, Census: census, Width: width}
	desk := &lookup.Desk{Archive: a, Census: census}
	until := time.Now().Add(*length)
	var wg sync.WaitGroup
	wg.Go(func() { job.Run(*every, until) })
	desk.Visit(*rate, until)
	wg.Wait()
	fmt.Printf("operations: %d\n", len(desk.Times))
	fmt.Printf("recounts: %d, bytes: %d, p50: %v, p99: %v\n", census.Rounds, desk.Bytes,
		desk.Quantile(0.5).Round(10*time.Microsecond), desk.Quantile(0.99).Round(10*time.Microsecond))
}
