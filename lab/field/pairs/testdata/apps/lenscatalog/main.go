// Command lenscatalog quotes prices of glasses with lenses of a laboratory.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"lenscatalog/internal/pricing"
	"lenscatalog/internal/quote"
	"lenscatalog/internal/supplier"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the client")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: supplier.Handler()}
	go srv.Serve(ln)
	tr := &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second}
	desk := &quote.Desk{
		Lab: &supplier.Client{Base: "http://" + ln.Addr().String(), HTTP: &http.Client{Transport: tr, Timeout: 5 * time.Second}, V2: *v2},
		Key: []byte("spring collection"),
	}

	end := time.Now().Add(*dur)
	var done, none, cents atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				p := pricing.Prescription{Sphere: float64(i%17)/4 - 2, Cylinder: float64(i%5) / 4, Axis: float64(i % 180)}
				q, err := desk.Make(context.Background(), fmt.Sprintf("%d%06d", w, i), p, "blue")
				if err != nil {
					none.Add(1)
					continue
				}
				done.Add(1)
				cents.Add(int64(q.Cents))
			}
		})
	}
	wg.Wait()
	srv.Close()
	fmt.Printf("operations: %d\n", done.Load()+none.Load())
	fmt.Printf("quotes: %d, without: %d, mean %.2f\n", done.Load(), none.Load(), float64(cents.Load())/100/float64(max(done.Load(), 1)))
}
