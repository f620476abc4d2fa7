// Command hotelrates finds the best offers of hotels.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"time"

	"hotelrates/internal/finder"
	"hotelrates/internal/hotel"
	"hotelrates/internal/upstream"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	lag := flag.Duration("lag", 12*time.Millisecond, "lag of the second server")
	rate := flag.Int("rate", 130, "questions per second")
	flag.Parse()

	a, err := hotel.Serve()
	if err != nil {
		log.Fatal(err)
	}
	b, err := hotel.Serve()
	if err != nil {
		log.Fatal(err)
	}
	f := &finder.Finder{Upstream: upstream.New(a.Addr, b.Addr, *lag), Key: []byte("guest house of the seven lakes")}

	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		done    int
		offered int
		spent   time.Duration
	)
	rng := rand.New(rand.NewPCG(4, 4))
	next := time.Now()
	for end := next.Add(*dur); next.Before(end); next = next.Add(time.Second / time.Duration(*rate)) {
		time.Sleep(time.Until(next))
		h, from, nights := rng.IntN(3000), rng.IntN(336), 1+rng.IntN(4)
		wg.Go(func() {
			t := time.Now()
			best, err := f.Find(context.Background(), h, from, nights)
			d := time.Since(t)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				log.Print(err)
				return
			}
			done++
			offered += len(best)
			spent += d
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done)
	fmt.Printf("%d offers, mean %v; connections %d and %d, answers %d and %d\n", offered, spent/time.Duration(max(done, 1)),
		a.Accepted.Load(), b.Accepted.Load(), a.Answered.Load(), b.Answered.Load())
}
