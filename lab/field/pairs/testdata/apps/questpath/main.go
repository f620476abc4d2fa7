// Questpath simulates parties that travel over a game map.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"questpath/internal/route"
	"questpath/internal/sim"
	"questpath/internal/world"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	size := flag.Int("size", 160, "edge of the map")
	ordered := flag.Bool("ordered", true, "keep the frontier ordered")
	flag.Parse()

	m := world.Generate(*size, *size, 5)
	var mu sync.Mutex
	var ops, lost, steps int
	var sum uint32
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	for g := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := sim.NewParty(m, route.NewFinder(m, *ordered), int64(g+1))
			n := 0
			for ; time.Now().Before(end); n++ {
				p.Quest()
			}
			mu.Lock()
			ops, lost, steps, sum = ops+n, lost+p.Lost, steps+p.Len, sum^p.Sum
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops)
	fmt.Printf("steps: %d, unreachable: %d, state %08x\n", steps, lost, sum)
}
