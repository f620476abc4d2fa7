// Command holidayrates searches package holidays with many tour operators.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"holidayrates/internal/rank"
	"holidayrates/internal/search"
	"holidayrates/internal/supplier"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to search")
	agents := flag.Int("agents", 7, "travel agents")
	width := flag.Int("width", 6, "calls in flight for one search")
	flow := flag.Bool("flow", true, "call operators in flow mode")
	flag.Parse()

	var ops []supplier.Operator
	for i := range 36 {
		ops = append(ops, supplier.NewSim(i))
	}
	fan := &search.Fanout{Operators: ops, Width: *width, Flow: *flow}

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	var done, offers atomic.Int64
	var spent atomic.Int64
	for a := range *agents {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(a), 5))
			for ctx.Err() == nil {
				begun := time.Now()
				req := supplier.Request{Airport: "HAM", Nights: 3 + r.IntN(18), Adults: 1 + r.IntN(4), Region: r.IntN(30)}
				raw := fan.Collect(context.Background(), req)
				best := rank.Merge(raw, 25)
				offers.Add(int64(len(best)))
				done.Add(1)
				spent.Add(int64(time.Since(begun)))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	if n := done.Load(); n > 0 {
		fmt.Printf("offers %d, mean search %v\n", offers.Load(), time.Duration(spent.Load()/n).Round(10*time.Microsecond))
	}
}
