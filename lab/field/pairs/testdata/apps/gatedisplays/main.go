// Command gatedisplays shows at each gate which flight leaves there.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"gatedisplays/internal/ops"
	"gatedisplays/internal/screen"
	"gatedisplays/internal/watch"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	gated := flag.Bool("gated", true, "changes by gate")
	gates := flag.Int("gates", 90, "number of gates")
	rate := flag.Int("rate", 1500, "messages per second")
	flag.Parse()

	b := watch.NewBoard(*gates, *gated)
	screens := make([]screen.Screen, 2**gates)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range screens {
		screens[i].Gate = i % *gates
		wg.Go(func() { screens[i].Run(b, done) })
	}
	var in ops.Intake
	if err := in.Follow(b, *gates, *rate, time.Now().Add(*dur)); err != nil {
		log.Fatal(err)
	}
	close(done)
	wg.Wait()
	var drawn int64
	var sum uint32
	for i := range screens {
		drawn += screens[i].Drawn.Load()
		sum += screens[i].Sum
	}
	fmt.Printf("operations: %d\n", in.Messages)
	fmt.Printf("%d screens drawn, %08x, chain %x\n", drawn, sum, in.Chain[:6])
}
