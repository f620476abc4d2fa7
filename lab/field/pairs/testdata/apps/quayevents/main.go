// Command quayevents applies container movements from a terminal's feed to the yard's books.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"quayevents/internal/consumer"
	"quayevents/internal/manifest"
	"quayevents/internal/trace"
	"quayevents/internal/yard"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 14000, "movements a second")
	v2 := flag.Bool("v2", true, "use the second version of the consumer")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	ctx = trace.WithTerminal(ctx, "HAM-CTB")

	books := yard.New()
	const partitions = 4
	feeds := make([]chan manifest.Record, partitions)
	consumers := make([]*consumer.Consumer, partitions)
	var wg sync.WaitGroup
	for i := range feeds {
		feeds[i] = make(chan manifest.Record, 256)
		consumers[i] = consumer.New(consumer.Config{Partition: i, V2: *v2}, feeds[i], books)
		wg.Go(func() { consumers[i].Run(ctx) })
	}
	produce(ctx, feeds, *rate)
	for _, f := range feeds {
		close(f)
	}
	wg.Wait()

	var handled, rejected int
	for _, c := range consumers {
		h, r := c.Counts()
		handled += h
		rejected += r
	}
	fmt.Printf("operations: %d\n", handled)
	fmt.Printf("rejected %d, containers in the yard %d, checksum %x\n", rejected, books.Len(), books.Checksum())
}

func produce(ctx context.Context, feeds []chan manifest.Record, rate int) {
	r := rand.New(rand.NewPCG(4, 9))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	offset := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); offset < due; {
			offset++
			rec := manifest.Sample(r, offset)
			select {
			case feeds[offset%len(feeds)] <- rec:
			case <-ctx.Done():
				return
			}
		}
	}
}
