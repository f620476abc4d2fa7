// Pressnav serves the articles of a newspaper.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pressnav/internal/pages"
	"pressnav/internal/site"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 600, "pages per second")
	linked := flag.Bool("linked", true, "use links between pages of the site")
	flag.Parse()

	s := site.Build(250, 3200, *linked)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, pages.New(s))

	const readers = 6
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: readers}}
	jobs := make(chan int, 64)
	var ops, size atomic.Int64
	var wg sync.WaitGroup
	for range readers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range jobs {
				res, err := client.Get(fmt.Sprintf("http://%s/a/%d", ln.Addr(), id))
				if err != nil {
					log.Fatal(err)
				}
				n, _ := io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if res.StatusCode == 200 {
					ops.Add(1)
					size.Add(n)
				}
			}
		}()
	}
	rng := rand.New(rand.NewSource(9))
	ids := s.Articles()
	const tick = 5 * time.Millisecond
	t := time.NewTicker(tick)
	begin := time.Now()
	sent := 0
	for now := range t.C {
		if now.Sub(begin) > *d {
			break
		}
		for want := int(now.Sub(begin).Seconds() * float64(*rate)); sent < want; sent++ {
			jobs <- ids[rng.Intn(len(ids))]
		}
	}
	t.Stop()
	close(jobs)
	wg.Wait()
	fmt.Println("operations:", ops.Load())
	fmt.Printf("articles: %d, bytes: %d\n", len(ids), size.Load())
}
