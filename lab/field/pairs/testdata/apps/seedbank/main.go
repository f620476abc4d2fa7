// Seedbank answers requests for seed samples from files of accessions.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"seedbank/internal/accession"
	"seedbank/internal/catalog"
	"seedbank/internal/desk"
)

const (
	stations = 4
	each     = 9000
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	resident := flag.Bool("resident", true, "open segments resident")
	flag.Parse()
	if err := run(*length, *resident); err != nil {
		log.Fatal(err)
	}
}

func run(length time.Duration, resident bool) error {
	dir, err := os.MkdirTemp("", "seedbank")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := catalog.Build(dir, stations, each); err != nil {
		return err
	}
	cat, err := catalog.Open(dir, stations, resident)
	if err != nil {
		return err
	}
	defer cat.Close()
	d := desk.New(cat)
	var ops, bytes atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(length)
	for w := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 3))
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for time.Now().Before(end) {
				<-tick.C
				for range 8 {
					n := rnd.IntN(each + each/20)
					b, err := d.Request(accession.ID(rnd.IntN(stations), n))
					if err != nil {
						log.Print(err)
						continue
					}
					ops.Add(1)
					bytes.Add(int64(len(b)))
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("found %d, %d kB of slips\n", d.Found.Load(), bytes.Load()/1024)
	return nil
}
