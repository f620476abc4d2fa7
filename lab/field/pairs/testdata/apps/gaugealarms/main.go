// gaugealarms reads the hourly files of river gauges and lists alarms.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gaugealarms/internal/board"
	"gaugealarms/internal/intake"
	"gaugealarms/internal/limits"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the alarm record")
	gauges := flag.Int("gauges", 6000, "number of gauges")
	flag.Parse()

	lim := limits.Load(*gauges)
	alarms := board.New(board.Settings{Days: 30, Record2: *v2})
	var files, lines, broken atomic.Int64
	stop := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			st := intake.NewStation(uint64(w), *gauges)
			for time.Now().Before(stop) {
				batch, err := intake.Decode(st.File(500))
				if err != nil {
					broken.Add(1)
					continue
				}
				lim.Classify(batch)
				alarms.Take(batch)
				files.Add(1)
				lines.Add(int64(len(batch)))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", files.Load())
	fmt.Printf("readings: %d, broken files: %d\n", lines.Load(), broken.Load())
	worst, n := alarms.Worst()
	fmt.Printf("alarms: %d, worst: gauge %d at %d cm (%s)\n", n, worst.Gauge, worst.Level, worst.River)
	if files.Load() == 0 {
		os.Exit(1)
	}
}
