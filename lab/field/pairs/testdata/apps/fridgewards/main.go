// Command fridgewards routes the temperatures of medicine fridges to collectors.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fridgewards/internal/ingest"
	"fridgewards/internal/members"
	"fridgewards/internal/readings"
	"fridgewards/internal/ring"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "variant of the ring")
	rate := flag.Int("rate", 1600, "batches per second")
	flag.Parse()

	r := ring.New(*kept)
	list := members.NewList(r.Update)
	var cols []*members.Collector
	for i := range 36 {
		cols = append(cols, members.Join(list, i, 256))
	}
	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range cols {
		wg.Go(func() { c.Run(ctx, 200*time.Millisecond) })
		time.Sleep(time.Millisecond)
	}

	bodies := make([][]byte, 200)
	for i := range bodies {
		b := readings.Batch{Gateway: fmt.Sprintf("gw-%03d", i)}
		for f := range 24 {
			name := fmt.Sprintf("ward%02d-fridge%03d", i%40, f)
			b.Readings = append(b.Readings, readings.Reading{Fridge: name, At: 1764500000, Temp: 2 + rand.Float64()*6.2})
		}
		bodies[i], _ = json.Marshal(b)
	}
	store := readings.NewStore()
	dist := ingest.New(r, store)
	var ops atomic.Int64
	work := make(chan []byte, 256)
	for range 4 {
		wg.Go(func() {
			for b := range work {
				if dist.Push(b) == nil {
					ops.Add(1)
				}
			}
		})
	}
	tick := time.NewTicker(5 * time.Millisecond)
	start, sent := time.Now(), 0
	for ctx.Err() == nil {
		<-tick.C
		due := int(time.Since(start).Seconds() * float64(*rate))
		for ; sent < due; sent++ {
			work <- bodies[sent%len(bodies)]
		}
	}
	close(work)
	wg.Wait()
	collectors, alarms := store.Totals()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("collectors: %d alarms: %d\n", collectors, alarms)
}
