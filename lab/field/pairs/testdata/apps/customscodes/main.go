// Command customscodes clears shipments through customs.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"customscodes/internal/clearance"
	"customscodes/internal/goods"
	"customscodes/internal/registry"
	"customscodes/internal/tariff"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rest := flag.Duration("rest", 2*time.Second, "rest of a site")
	rate := flag.Int("rate", 150, "shipments per second")
	flag.Parse()

	var addrs []string
	for i := range 3 {
		s, err := registry.Open(3*time.Millisecond, i == 0)
		if err != nil {
			log.Fatal(err)
		}
		addrs = append(addrs, s.Addr())
	}
	office := &clearance.Office{
		Tariff:    tariff.New(addrs, 40*time.Millisecond, *rest),
		Screening: &clearance.Screening{Latency: 30 * time.Millisecond},
	}

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		times []time.Duration
		total int64
		bad   int
	)
	rng := rand.New(rand.NewPCG(8, 2))
	start := time.Now()
	for i := 0; ; i++ {
		at := start.Add(time.Duration(i) * time.Second / time.Duration(*rate))
		if at.Sub(start) >= *dur {
			break
		}
		time.Sleep(time.Until(at))
		items := make([]goods.Item, 1+rng.IntN(2))
		for j := range items {
			items[j] = goods.Random(rng)
		}
		wg.Go(func() {
			t := time.Now()
			due, _, err := office.Clear(items)
			d := time.Since(t)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				bad++
				return
			}
			total += due
			times = append(times, d)
		})
	}
	wg.Wait()
	slices.Sort(times)
	fmt.Printf("operations: %d\n", len(times))
	fmt.Printf("due %d.%02d, %d not cleared; median %v, p99 %v\n", total/100, total%100, bad, times[len(times)/2], times[len(times)*99/100])
}
