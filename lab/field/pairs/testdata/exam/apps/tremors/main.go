// Tremors keeps what the seismometers of some stations say, and reviews it now and then.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"tremors/internal/head"
	"tremors/internal/review"
	"tremors/internal/station"
)

func main() {
	stations := flag.Int("stations", 8, "stations")
	channels := flag.Int("channels", 30, "channels of a station")
	period := flag.Duration("period", 5*time.Millisecond, "time between two samples of a channel")
	samples := flag.Int("chunk", 2048, "samples of a chunk")
	resident := flag.Bool("resident-appenders", false, "series have their appender with them")
	d := flag.Duration("for", 6*time.Second, "how long")
	flag.Parse()
	h := head.New(head.Options{ChunkSamples: *samples, Resident: *resident})
	var wg sync.WaitGroup
	var total atomic.Int64
	for n := range *stations {
		s := station.New(h, n, *channels)
		wg.Add(1)
		go func() {
			defer wg.Done()
			took, err := s.Run(*period, *d)
			if err != nil {
				log.Fatal(err)
			}
			total.Add(int64(took))
		}()
	}
	end := time.After(*d)
	look := time.NewTicker(50 * time.Millisecond)
	peak := 0.0
	for n, more := 0, true; more; n++ {
		select {
		case <-look.C:
			sum, err := review.Window(h, head.Ref(n%(*stations**channels)), 0)
			if err != nil {
				log.Fatal(err)
			}
			peak = max(peak, sum.Peak)
		case <-end:
			more = false
		}
	}
	wg.Wait()
	fmt.Println("peak:", peak)
	fmt.Println("operations:", total.Load())
}
