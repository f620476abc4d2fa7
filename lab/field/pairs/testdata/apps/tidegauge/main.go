// Command tidegauge stores the readings of tide gauges.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tidegauge/internal/segment"
	"tidegauge/internal/station"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the service")
	flag.Parse()

	dir, err := os.MkdirTemp("", "tidegauge")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	end := time.Now().Add(*run)
	var ops, removed atomic.Int64
	var wg sync.WaitGroup
	for w := range 2 {
		var sts []*station.Station
		for k := range 3 {
			l, err := segment.Open(dir, fmt.Sprintf("st%02d", w*3+k), *v2)
			if err != nil {
				log.Fatal(err)
			}
			sts = append(sts, station.New(w*3+k, l))
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; time.Now().Before(end); i++ {
				if err := sts[i%len(sts)].Batch(500); err != nil {
					log.Print(err)
					return
				}
				ops.Add(500)
			}
			for _, s := range sts {
				removed.Add(int64(s.Log.Removed))
				s.Log.Close()
			}
		}()
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("%d segments expired\n", removed.Load())
}
