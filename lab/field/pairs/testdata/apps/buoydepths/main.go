// buoydepths turns the frames of moored buoys into depth profiles.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"buoydepths/internal/calib"
	"buoydepths/internal/frames"
	"buoydepths/internal/profile"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the profile grid")
	buoys := flag.Int("buoys", 240, "number of moored buoys")
	flag.Parse()

	table := calib.Load(*buoys, 64)
	store := profile.NewStore(profile.Config{Grid2: *v2})
	var ops, bad atomic.Int64
	stop := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			src := frames.NewSource(uint64(w+1), *buoys)
			for time.Now().Before(stop) {
				frame := src.Next()
				rs, err := frames.Parse(frame)
				if err != nil {
					bad.Add(1)
					continue
				}
				for i := range rs {
					table.Correct(&rs[i])
				}
				store.AddAll(rs)
				ops.Add(1)
			}
		}()
	}
	wg.Wait()
	sum := store.Summary()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("damaged frames: %d, readings: %d\n", bad.Load(), sum.Readings)
	fmt.Printf("deepest bin: %.1f m at %s, mean density %.2f\n", sum.Deepest, sum.Buoy, sum.Density)
	if ops.Load() == 0 {
		os.Exit(1)
	}
}
