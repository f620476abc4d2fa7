// Command coinarchive answers queries about a collection of coins.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"coinarchive/internal/catalogue"
	"coinarchive/internal/search"
)

func main() {
	start := time.Now()
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	batch := flag.Bool("batch", true, "variant of the index")
	coins := flag.Int("coins", 55000, "coins in the collection")
	flag.Parse()
	if err := run(start, *dur, *batch, *coins); err != nil {
		log.Fatal(err)
	}
}

func run(start time.Time, dur time.Duration, batch bool, coins int) error {
	dir, err := os.MkdirTemp("", "coinarchive")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "journal")
	if err := catalogue.Sample(path, coins); err != nil {
		return err
	}
	open := time.Now()
	archive, err := search.Open(path, batch)
	if err != nil {
		return err
	}
	ready := time.Since(open)

	var ops, size atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			tick := time.NewTicker(4 * time.Millisecond)
			defer tick.Stop()
			for i := g; ; i += 4 {
				b, err := archive.Query(20, fmt.Sprintf("ruler=R%02d", i%60), fmt.Sprintf("era=E%d", i%6))
				if err != nil {
					log.Print(err)
				}
				ops.Add(1)
				size.Add(int64(len(b)))
				if time.Since(start) > dur {
					return
				}
				<-tick.C
			}
		})
	}
	wg.Wait()
	n, labels := archive.Len()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("coins: %d labels: %d ready in %v, %d bytes of answers\n", n, labels, ready.Round(time.Millisecond), size.Load())
	return nil
}
