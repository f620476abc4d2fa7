// Command pagerroute evaluates monitors and brings their alerts to the people
// on call.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"pagerroute/internal/gateway"
	"pagerroute/internal/lanes"
	"pagerroute/internal/watch"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	monitors := flag.Int("monitors", 40, "monitors")
	v2 := flag.Bool("v2", true, "second version of lanes")
	flag.Parse()

	r := lanes.NewRouter(*v2, []lanes.Config{
		{Name: "chat", Gateway: gateway.Sim{Delay: 2 * time.Millisecond}, Workers: 12, Depth: 64},
		{Name: "mail", Gateway: gateway.Sim{Delay: 3 * time.Millisecond}, Workers: 10, Depth: 64},
		{Name: "push", Gateway: gateway.Sim{Delay: 1 * time.Millisecond}, Workers: 8, Depth: 64},
		{Name: "voice", Gateway: gateway.Sim{Delay: 26 * time.Millisecond}, Workers: 2, Depth: 16},
	})
	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	all := make([]*watch.Monitor, *monitors)
	for i := range all {
		all[i] = watch.New(i, r)
		wg.Go(func() { all[i].Run(ctx) })
	}
	wg.Wait()
	r.Close()

	var n int
	var spent time.Duration
	for _, m := range all {
		n += m.Raised
		spent += m.Spent
	}
	fmt.Printf("operations: %d\n", n)
	if n > 0 {
		fmt.Printf("notices %v, mean time of an evaluation %v\n", r.Sent(), (spent / time.Duration(n)).Round(10*time.Microsecond))
	}
}
