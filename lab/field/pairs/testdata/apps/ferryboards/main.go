// Command ferryboards keeps the departure boards of a ferry company current:
// a feed of sailing messages changes boards, displays long-poll for theirs.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"ferryboards/internal/boards"
	"ferryboards/internal/display"
	"ferryboards/internal/feed"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	berths := flag.Int("berths", 40, "number of berths")
	screens := flag.Int("screens", 800, "number of displays")
	rate := flag.Int("rate", 400, "sailing messages per second")
	v2 := flag.Bool("v2", true, "use the second store version")
	flag.Parse()

	store := boards.NewStore(*v2)
	for i := range *berths {
		store.Open(feed.Berth(i))
	}

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()

	var wg sync.WaitGroup
	var fleet display.Fleet
	for i := range *screens {
		wg.Go(func() { fleet.Poll(ctx, store, feed.Berth(i%*berths), 24+i%5*8) })
	}
	applied, rejected := feed.Run(ctx, store, *berths, *rate)
	wg.Wait()

	fmt.Printf("operations: %d\n", fleet.Drawn.Load())
	fmt.Printf("%d sailing messages applied, %d rejected, %d bytes of screen text\n",
		applied, rejected, fleet.Bytes.Load())
}
