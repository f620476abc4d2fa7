// Package trucks has the trucks that report.
package trucks

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Drive lets gateways pass on reports until the end; most of them come from
// the trucks that are on the road today.
func Drive(report func(string) error, gateways int, end time.Time) int64 {
	var done atomic.Int64
	var wg sync.WaitGroup
	for g := range gateways {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 31))
			for time.Now().Before(end) {
				truck := rnd.IntN(1500)
				if rnd.IntN(20) == 0 {
					truck = 1500 + rnd.IntN(60000)
				}
				if report(line(truck, rnd)) == nil {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return done.Load()
}

func line(truck int, rnd *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HT-%06d", truck)
	lat, lon := 48+rnd.Float64()*4, 7+rnd.Float64()*6
	for range 60 {
		lat += rnd.Float64() / 2000
		lon += rnd.Float64() / 2000
		fmt.Fprintf(&b, ";%.6f,%.6f", lat, lon)
	}
	return b.String()
}
