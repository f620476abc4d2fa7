// Package riders plays the riders of a night.
package riders

import (
	"math/rand/v2"
	"sync"
	"time"

	"nightbuses/internal/fares"
	"nightbuses/internal/journeys"
	"nightbuses/internal/streets"
)

// Desk sells tickets.
type Desk struct {
	Region *streets.Region
	Table  *journeys.Table
	Key    []byte

	mu     sync.Mutex
	Sold   int
	Cents  int
	Bytes  int
	Closed int
}

// Sell serves rate riders a second until the end. They come from the stations where late trains halt.
func (d *Desk) Sell(rate int, end time.Time) {
	const clerks, batch = 2, 25
	gap := time.Second * clerks * batch / time.Duration(rate)
	n := len(d.Region.Stops)
	var wg sync.WaitGroup
	for c := range clerks {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(c), 31))
			for next := time.Now(); next.Before(end); next = next.Add(gap) {
				time.Sleep(time.Until(next))
				for range batch {
					d.ticket(int32(rnd.IntN(24)*(n/24)), int32(rnd.IntN(n)))
				}
			}
		})
	}
	wg.Wait()
}

func (d *Desk) ticket(from, to int32) {
	secs, stops, ok := d.Table.Between(from, to)
	var text []byte
	cents := 0
	if ok {
		cents = fares.Price(d.Region.Stops[from].Zone, d.Region.Stops[to].Zone, stops)
		text, _ = fares.Issue(d.Key, fares.Ticket{From: from, To: to, Minutes: secs / 60, Stops: stops, Cents: cents})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !ok {
		d.Closed++
		return
	}
	d.Sold++
	d.Cents += cents
	d.Bytes += len(text)
}
