// Command stockprobe plans from which depots orders are sent.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"stockprobe/internal/allocate"
	"stockprobe/internal/depot"
	"stockprobe/internal/faults"
	"stockprobe/internal/shop"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 1000, "orders per second")
	short := flag.Bool("short", true, "short form")
	flag.Parse()

	missing := faults.Maker(faults.Full)
	if *short {
		missing = faults.Short
	}
	const articles = 20000
	var depots []*depot.Depot
	for i, name := range []string{"north", "harbour", "airport", "south", "hill"} {
		depots = append(depots, depot.New(name, articles, 65, uint64(i), missing))
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: shop.Handler(allocate.New(depots)), ReadHeaderTimeout: 5 * time.Second}
	go srv.Serve(ln)

	const customers = 8
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: customers}}
	url := "http://" + ln.Addr().String()
	var orders, picked, back, failed atomic.Int64
	var wg sync.WaitGroup
	for i := range customers {
		wg.Go(func() {
			c := shop.NewCustomer(uint64(i), articles)
			tick := time.NewTicker(time.Second * customers / time.Duration(*rate))
			defer tick.Stop()
			for stop := time.Now().Add(*length); time.Now().Before(stop); <-tick.C {
				p, b, err := c.Order(client, url)
				if err != nil {
					failed.Add(1)
					continue
				}
				orders.Add(1)
				picked.Add(int64(p))
				back.Add(int64(b))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", orders.Load())
	fmt.Printf("lines picked %d, not in stock %d, failed %d\n", picked.Load(), back.Load(), failed.Load())
}
