// Fraudscores scores payments before they are authorised.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"fraudscores/internal/features"
	"fraudscores/internal/loader"
	"fraudscores/internal/scoring"
)

func main() {
	terminals := flag.Int("terminals", 12, "terminals that authorise at once")
	payments := flag.Int("payments", 2800, "payments to score")
	batching := flag.String("batching", "window", "when look-ups are sent: window or inflight")
	window := flag.Duration("window", 8*time.Millisecond, "how long look-ups are gathered")
	store := flag.Duration("store", 300*time.Microsecond, "how long the store takes")
	flag.Parse()

	policy, err := loader.ParsePolicy(*batching)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l := loader.Start(ctx, features.NewStore(*store), loader.Options{Policy: policy, Size: 128, Window: *window})
	s := scoring.New(l)

	var wg sync.WaitGroup
	var next, scored, total atomic.Int64
	for range *terminals {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				n := next.Add(1)
				if n > int64(*payments) {
					return
				}
				v, err := s.Score(ctx, scoring.Sample(int(n)))
				if err != nil {
					log.Print(err)
					return
				}
				scored.Add(1)
				total.Add(int64(math.Round(v * 1000)))
			}
		}()
	}
	wg.Wait()
	log.Printf("%d payments in %d batches, mean score %.1f", scored.Load(), l.Batches(), float64(total.Load())/float64(max(1, scored.Load()))/1000)
	fmt.Printf("operations: %d\n", scored.Load())
}
