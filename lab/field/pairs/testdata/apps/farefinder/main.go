// Command farefinder answers searches for flights.
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

	"farefinder/internal/fares"
	"farefinder/internal/travellers"
	"farefinder/internal/web"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 2000, "searches per second")
	whole := flag.Bool("whole", true, "read searches as a whole")
	flag.Parse()

	mux := http.NewServeMux()
	mux.Handle("GET /search", web.New(fares.Fill(120), *whole))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, mux)

	searches := travellers.Searches(2000)
	base := "http://" + ln.Addr().String()
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 32, MaxIdleConnsPerHost: 32}}
	var next, done, failed, bytes atomic.Int64
	start := time.Now()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				i := next.Add(1)
				due := start.Add(time.Duration(i) * time.Second / time.Duration(*rate))
				if due.Sub(start) > *length {
					return
				}
				if d := time.Until(due); d > 0 {
					time.Sleep(d)
				}
				n, err := travellers.Search(client, base+searches[int(i)%len(searches)])
				if err != nil {
					failed.Add(1)
					continue
				}
				done.Add(1)
				bytes.Add(n)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	fmt.Printf("failed %d, %d kB of answers\n", failed.Load(), bytes.Load()>>10)
}
