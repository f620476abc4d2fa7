// Command craneyard moves containers in a terminal with straddle carriers.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"craneyard/internal/carrier"
	"craneyard/internal/dispatch"
	"craneyard/internal/plan"
	"craneyard/internal/yard"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to work")
	fleet := flag.Int("fleet", 600, "carriers")
	rate := flag.Int("rate", 3500, "moves per second")
	onecall := flag.Bool("onecall", true, "call of the radio: one carrier")
	flag.Parse()

	y := yard.New(24, 48)
	desk := dispatch.New(*onecall)
	var wg sync.WaitGroup
	all := make([]*carrier.Carrier, *fleet)
	for i := range all {
		all[i] = carrier.New(i, y, desk, carrier.Wheels{Speed: 4})
		wg.Go(all[i].Drive)
	}

	end := time.Now().Add(*dur)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	begun, sent := time.Now(), 0
	for now := range tick.C {
		if now.After(end) {
			break
		}
		for due := int(now.Sub(begun).Seconds() * float64(*rate)); sent < due; sent++ {
			desk.Put(plan.Move{
				Box:  sent,
				From: yard.Spot{Row: rand.IntN(24), Bay: rand.IntN(48)},
				To:   yard.Spot{Row: rand.IntN(24), Bay: rand.IntN(48)},
			})
		}
	}
	desk.Drain()
	wg.Wait()

	var moves, metres int
	for _, c := range all {
		moves += c.Moves
		metres += c.Metres
	}
	fmt.Printf("operations: %d\n", moves)
	fmt.Printf("driven %d km, mean wait %v\n", metres/1000, desk.MeanWait().Round(time.Microsecond))
}
