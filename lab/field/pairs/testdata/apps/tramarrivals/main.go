// Command tramarrivals tells passengers when the next trams come.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"tramarrivals/internal/board"
	"tramarrivals/internal/display"
	"tramarrivals/internal/feed"
	"tramarrivals/internal/live"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the updates")
	rate := flag.Int("rate", 400, "questions per second")
	flag.Parse()

	const lines = 12
	netw := live.New(live.Options{Detached: *v2, Backlog: 2})
	h := &board.Handler{Net: netw, Notes: &board.Notes{Latency: 4 * time.Millisecond}}
	var panels [2 * lines]display.Panel
	for i := range panels {
		l := netw.Listen(i % lines)
		go panels[i].Run(l, uint64(i))
	}
	end := time.Now().Add(*dur)
	for line := range lines {
		go func() {
			rng := rand.New(rand.NewPCG(uint64(line), 3))
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for range tick.C {
				p, err := feed.Parse(feed.Report(rng, line))
				if err != nil {
					panic(err)
				}
				netw.Update(p)
			}
		}()
	}

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		times []time.Duration
	)
	rng := rand.New(rand.NewPCG(5, 6))
	next := time.Now()
	for next.Before(end) {
		time.Sleep(time.Until(next))
		next = next.Add(time.Second / time.Duration(*rate))
		url := fmt.Sprintf("/stop?line=%d&metre=%d", rng.IntN(lines-2), rng.IntN(18000))
		wg.Go(func() {
			t := time.Now()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
			d := time.Since(t)
			mu.Lock()
			times = append(times, d)
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(times)
	var sum time.Duration
	for _, d := range times {
		sum += d
	}
	fmt.Printf("operations: %d\n", len(times))
	fmt.Printf("answers: mean %v, p99 %v; %d positions\n", sum/time.Duration(len(times)), times[len(times)*99/100], netw.Updates())
}
