// Command hangarslots plans the bays of maintenance hangars.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"hangarslots/internal/manifest"
	"hangarslots/internal/planner"
	"hangarslots/internal/slots"
)

const (
	bays = 160
	days = 400
)

func bayName(i int) string { return fmt.Sprintf("H%02d-%d", i/8, i%8) }

func order(rng *rand.Rand) manifest.Order {
	o := manifest.Order{Tail: fmt.Sprintf("D-A%03d", rng.IntN(900)), Bay: bayName(rng.IntN(bays)), From: rng.IntN(days*96) * 15, Hours: 2 + rng.IntN(20)}
	for i := range 12 + rng.IntN(20) {
		o.Cards = append(o.Cards, fmt.Sprintf("card %d of chapter %d: inspect, lubricate and record", i, rng.IntN(80)))
	}
	return o
}

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the slot store")
	flag.Parse()

	store := slots.New(*v2)
	seed := rand.New(rand.NewPCG(3, 4))
	for store.Len() < 1500 {
		o := order(seed)
		store.Reserve(o.Bay, o.Tail, o.From, o.From+o.Hours*60)
	}
	p := planner.New(store, "hangar-desk")
	var ops, cancelled atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*span)
	for w := range 2 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 77))
			for time.Now().Before(end) {
				raw, err := json.Marshal(order(rng))
				if err != nil {
					log.Fatal(err)
				}
				id, err := p.Handle(raw)
				if err != nil {
					log.Fatal(err)
				}
				if id >= 0 && rng.IntN(100) < 97 {
					if store.Cancel(id) {
						cancelled.Add(1)
					}
				}
				ops.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("booked %d, refused %d, cancelled %d, %d slots, %d bytes answered\n", p.Booked.Load(), p.Refused.Load(), cancelled.Load(), store.Len(), p.Answered.Load())
}
