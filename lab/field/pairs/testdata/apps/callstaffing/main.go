// Callstaffing plans how many agents call centres need in the week to come.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand"
	"sync"
	"time"

	"callstaffing/internal/history"
	"callstaffing/internal/plan"
	"callstaffing/internal/staffing"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second form of the planner")
	flag.Parse()

	p := &staffing.Planner{Goal: staffing.Goal{Share: 0.8, Within: 20 * time.Second, Limit: 900}, V2: *v2}
	var centres [][]byte
	for i := range 6 {
		centres = append(centres, history.Centre(rand.New(rand.NewSource(int64(i))), 4, 8))
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var halves, hours, weeks int
	end := time.Now().Add(*d)
	for w := range 2 {
		wg.Go(func() {
			for i := w; time.Now().Before(end); i += 2 {
				c, err := plan.Make(centres[i%len(centres)], p)
				if err != nil {
					log.Fatal(err)
				}
				mu.Lock()
				halves += c.Halves
				hours += c.Hours
				weeks++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", halves)
	fmt.Printf("%d weeks of %d agent hours on average\n", weeks, hours/max(weeks, 1))
}
