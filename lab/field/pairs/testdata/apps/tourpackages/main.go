// Command tourpackages makes the packages of a season.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"tourpackages/internal/partner"
	"tourpackages/internal/planner"
	"tourpackages/internal/slots"
	"tourpackages/internal/tour"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to plan")
	flat := flag.Bool("flat", true, "plan tours flat")
	places := flag.Int("places", 12, "partners asked at the same time")
	flag.Parse()

	p := &planner.Planner{
		Desk:     &partner.Desk{Latency: 14 * time.Millisecond},
		Slots:    slots.New(*places),
		Patience: 50 * time.Millisecond,
		Flat:     *flat,
	}
	queue := make(chan tour.Tour)
	go func() {
		defer close(queue)
		end := time.Now().Add(*dur)
		tour.Season(rand.New(rand.NewPCG(9, 1)), func(t tour.Tour) bool {
			queue <- t
			return time.Now().Before(end)
		})
	}()
	var (
		wg                   sync.WaitGroup
		tours, cents, folder atomic.Int64
	)
	for range 10 {
		wg.Go(func() {
			for t := range queue {
				k, err := p.Plan(t)
				if err != nil {
					log.Print(err)
					continue
				}
				tours.Add(1)
				cents.Add(int64(k.Cents))
				folder.Add(int64(len(k.Folder)))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", tours.Load())
	fmt.Printf("value %d.%02d, folders of %d kB, %d parts late\n", cents.Load()/100, cents.Load()%100, folder.Load()>>10, p.Own.Load())
}
