// Command refinerylogs follows the logs of a refinery's units, which are small
// and rotated often, and ships their records to the archive.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"refinerylogs/internal/follow"
	"refinerylogs/internal/parse"
	"refinerylogs/internal/plant"
	"refinerylogs/internal/ship"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "follow logs the second way")
	flag.Parse()

	dir, err := os.MkdirTemp("", "refinerylogs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx, stop := context.WithTimeout(context.Background(), *dur)
	defer stop()
	var written atomic.Int64
	var units sync.WaitGroup
	for i := range 24 {
		units.Go(func() {
			n, err := plant.New(dir, i).Run(ctx, 14*time.Millisecond)
			if err != nil {
				log.Print(err)
			}
			written.Add(int64(n))
		})
	}

	shipper := &ship.Shipper{Size: 200}
	bad := 0
	logs := follow.New(filepath.Join(dir, "*.log*"), *v2)
	defer logs.Close()
	take := func(_ string, text []byte) {
		r, err := parse.Line(string(text))
		if err != nil {
			bad++
			return
		}
		if err := shipper.Add(r); err != nil {
			log.Fatal(err)
		}
	}
	for ctx.Err() == nil {
		if err := logs.Poll(take); err != nil {
			log.Fatal(err)
		}
		time.Sleep(15 * time.Millisecond)
	}
	units.Wait()
	if err := logs.Poll(take); err != nil {
		log.Fatal(err)
	}
	if err := shipper.Flush(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", shipper.Records)
	fmt.Printf("%d lines written, %d bad, %d kB in %d batches\n", written.Load(), bad, shipper.Bytes/1024, shipper.Batches)
}
