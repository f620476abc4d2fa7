// Command lockkeepers relays the water levels at a canal's locks to the depot.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	"lockkeepers/internal/depot"
	"lockkeepers/internal/gauge"
	"lockkeepers/internal/relay"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	locks := flag.Int("locks", 24, "locks of the canal")
	wide := flag.Bool("wide", true, "wide relay")
	flag.Parse()

	d, err := depot.Listen(3 * time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	var opts relay.Options
	if *wide {
		opts.Window = 128
	}
	r, err := relay.Dial(d.Addr(), opts)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()

	var wg sync.WaitGroup
	var keepers []*gauge.Keeper
	for lock := range *locks {
		k := gauge.NewKeeper(lock, 20*time.Millisecond, r)
		keepers = append(keepers, k)
		wg.Go(func() {
			if err := k.Work(ctx); err != nil {
				log.Printf("lock %d: %v", k.Lock, err)
			}
		})
	}
	wg.Wait()
	r.Close()

	var took []time.Duration
	for _, k := range keepers {
		took = append(took, k.Took...)
	}
	slices.Sort(took)
	fmt.Printf("operations: %d\n", len(took))
	fmt.Printf("stored %d, median %v, p99 %v\n", d.Stored(), took[len(took)/2], took[len(took)*99/100])
}
