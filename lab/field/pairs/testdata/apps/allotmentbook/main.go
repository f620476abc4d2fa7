// Command allotmentbook renews leases of allotments.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"allotmentbook/internal/leases"
	"allotmentbook/internal/notify"
	"allotmentbook/internal/store"
)

func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return l
}

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	batch := flag.Bool("batch", true, "variant of the desk")
	rate := flag.Int("rate", 320, "renewals per second")
	flag.Parse()

	register, letters := listen(), listen()
	go store.NewServer(2000).Serve(register)
	go http.Serve(letters, notify.Handler())
	db, err := store.Open(register.Addr().String(), 8)
	if err != nil {
		log.Fatal(err)
	}
	desk := leases.NewDesk(db, notify.NewClient("http://"+letters.Addr().String()+"/letters"), *batch)

	var mu sync.Mutex
	var times []time.Duration
	var failed int
	var wg sync.WaitGroup
	ctx := context.Background()
	stop := time.Now().Add(*dur)
	for time.Now().Before(stop) {
		group := 1 + rand.IntN(40)
		for range group {
			plot := fmt.Sprintf("plot-%04d", rand.IntN(2000))
			at := time.Now()
			wg.Go(func() {
				err := desk.Renew(ctx, plot)
				mu.Lock()
				defer mu.Unlock()
				times = append(times, time.Since(at))
				if err != nil {
					failed++
				}
			})
		}
		time.Sleep(time.Duration(group) * time.Second / time.Duration(*rate))
	}
	wg.Wait()
	slices.Sort(times)
	fmt.Printf("operations: %d\n", len(times))
	fmt.Printf("failed: %d p50: %v p99: %v\n", failed, times[len(times)/2], times[len(times)*99/100])
}
