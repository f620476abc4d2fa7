// metertunnel connects concentrators of electricity meters to a head-end.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"metertunnel/internal/concentrator"
	"metertunnel/internal/headend"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the tunnel")
	flag.Parse()

	srv, err := headend.Listen("127.0.0.1:0", headend.Options{Meters: 200 * 120, Rotate: 800 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	go srv.Serve()

	cfg := concentrator.Config{Addr: srv.Addr(), Every: 80 * time.Millisecond, Ping: 400 * time.Millisecond, V2: *v2}
	all := make([]*concentrator.Concentrator, 120)
	var wg sync.WaitGroup
	for i := range all {
		all[i] = concentrator.New(cfg, i)
		wg.Go(func() { all[i].Run(ctx) })
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	var sent, links int
	for _, c := range all {
		s, l := c.Counts()
		sent += s
		links += l
	}
	batches, energy := srv.Totals()
	fmt.Printf("operations: %d\nbatches sent: %d, links: %d, energy: %.1f kWh\n", batches, sent, links, energy)
}
