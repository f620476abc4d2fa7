// Command icerinks sends the readings of ice rinks to a collector.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"icerinks/internal/collector"
	"icerinks/internal/rink"
	"icerinks/internal/uplink"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rinks := flag.Int("rinks", 40, "number of rinks")
	every := flag.Duration("every", 100*time.Millisecond, "time between batches of a rink")
	v2 := flag.Bool("v2", true, "use the second uplink profile")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	col := collector.New()
	go http.Serve(ln, col)

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	go col.Maintain(ctx)

	up := uplink.New(uplink.Options{
		URL:     "http://" + ln.Addr().String() + "/readings",
		Conns:   *rinks,
		Attempt: 2 * time.Second,
		Base:    20 * time.Millisecond,
		V2:      *v2,
	})
	var wg sync.WaitGroup
	for i := range *rinks {
		wg.Go(func() { rink.New(i, up).Run(ctx, *every) })
	}
	wg.Wait()

	fmt.Printf("operations: %d\n", col.Batches.Load())
	fmt.Printf("readings %d, coldest %.2f, lost %d\n", col.Readings.Load(), col.Coldest(), up.Lost.Load())
}
