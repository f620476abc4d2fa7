// Command quarrypages issues tickets at the scales of a quarry and shows the loads in the site offices.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"slices"
	"sync"
	"time"

	"quarrypages/internal/board"
	"quarrypages/internal/bridge"
	"quarrypages/internal/office"
)

var stones = []string{"granite", "gravel", "sand", "basalt"}

func telegram(i int) string {
	return fmt.Sprintf("TR-%05d;%s;%d;%d", i%2010, stones[i%len(stones)], 24000+i%9000, 11000+i%700)
}

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "variant of the board")
	rate := flag.Int("rate", 800, "weighings per second")
	flag.Parse()

	b := board.New(*kept)
	desk := bridge.NewDesk(b)
	for i := range 2010 {
		if _, err := desk.Weigh(telegram(i)); err != nil {
			log.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	srv := office.NewServer(b)
	go srv.Serve(l)

	stop := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for time.Now().Before(stop) {
				if _, err := office.Terminal(l.Addr().String()); err != nil {
					log.Print(err)
				}
				time.Sleep(300 * time.Millisecond)
			}
		})
	}
	var mu sync.Mutex
	var times []time.Duration
	begin, sent := time.Now(), 0
	for now := begin; now.Before(stop); now = time.Now() {
		due := int(now.Sub(begin).Seconds() * float64(*rate))
		for ; sent < due; sent++ {
			wg.Add(1)
			go func(i int, at time.Time) {
				defer wg.Done()
				if _, err := desk.Weigh(telegram(i)); err != nil {
					log.Print(err)
				}
				mu.Lock()
				times = append(times, time.Since(at))
				mu.Unlock()
			}(sent, time.Now())
		}
		time.Sleep(2 * time.Millisecond)
	}
	wg.Wait()
	l.Close()
	slices.Sort(times)
	fmt.Printf("operations: %d\n", len(times))
	fmt.Printf("boards shown: %d ticket p50: %v p99: %v\n", srv.Sent(), times[len(times)/2], times[len(times)*99/100])
}
