// Command ferryboard quotes crossings of a ferry line while the positions of
// the vessels come in.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"ferryboard/internal/desk"
	"ferryboard/internal/feed"
	"ferryboard/internal/harbour"
	"ferryboard/internal/timetable"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to serve")
	rate := flag.Int("rate", 800, "quotes per second")
	snap := flag.Bool("snap", true, "quote from a snapshot of the sailing")
	flag.Parse()

	board := timetable.New(40, 24)
	d := desk.New(board, harbour.Sim{Fast: 3 * time.Millisecond, Slow: 24 * time.Millisecond}, *snap)

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	for v := range 4 {
		wg.Go(func() { feed.Follow(ctx, board, v, 70*time.Millisecond) })
	}

	slots := make(chan struct{}, 2000)
	pace := time.NewTicker(time.Second / time.Duration(*rate))
	defer pace.Stop()
	refused := 0
serving:
	for {
		select {
		case <-ctx.Done():
			break serving
		case <-pace.C:
		}
		select {
		case slots <- struct{}{}:
		default:
			refused++
			continue
		}
		q := desk.Query{Route: rand.IntN(40), Sailing: rand.IntN(24), Adults: 1 + rand.IntN(4), CarCM: 380 + rand.IntN(300)}
		wg.Go(func() {
			defer func() { <-slots }()
			d.Quote(q)
		})
	}
	wg.Wait()
	n, mean, p99 := d.Summary()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("refused %d, positions %d, mean %v, p99 %v\n", refused, board.Changes(), mean.Round(10*time.Microsecond), p99.Round(10*time.Microsecond))
}
