// Freightquote quotes prices for parcel shipments.
package main

import (
	"bytes"
	"encoding/json"
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

	"freightquote/internal/api"
	"freightquote/internal/quote"
	"freightquote/internal/tariff"
	"freightquote/internal/zones"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 1200, "quotes per second")
	v2 := flag.Bool("v2", true, "use the second version of the zone service")
	flag.Parse()

	entries := zones.Load(200)
	loc := zones.NewLocator(entries, *v2)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, api.Handler(&quote.Service{Zones: loc, Card: tariff.NewCard()}))

	const clients = 8
	url := "http://" + ln.Addr().String() + "/quotes"
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	bodies := requests(256)
	var ops, total atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	gap := time.Second * clients / time.Duration(*rate)
	for c := 0; c < clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			next := time.Now().Add(gap * time.Duration(c) / clients)
			for i := c; next.Before(end); i++ {
				time.Sleep(time.Until(next))
				next = next.Add(gap)
				res, err := hc.Post(url, "application/json", bytes.NewReader(bodies[i%len(bodies)]))
				if err != nil {
					log.Fatal(err)
				}
				b, _ := io.ReadAll(res.Body)
				res.Body.Close()
				if res.StatusCode != http.StatusOK {
					log.Fatal(res.Status)
				}
				ops.Add(1)
				total.Add(int64(len(b)))
			}
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops.Load())
	fmt.Printf("zone entries: %d, bytes answered: %d\n", len(entries), total.Load())
}

func requests(n int) [][]byte {
	rng := rand.New(rand.NewSource(7))
	addr := func() quote.Address {
		c := zones.Countries[rng.Intn(len(zones.Countries))]
		return quote.Address{Country: c, Postcode: fmt.Sprint(10000 + rng.Intn(89999))}
	}
	out := make([][]byte, n)
	for i := range out {
		req := quote.Request{From: addr()}
		for p := 0; p < 6+rng.Intn(8); p++ {
			req.Parcels = append(req.Parcels, quote.Parcel{To: addr(), Grams: 200 + rng.Intn(20000),
				Size: [3]int{10 + rng.Intn(50), 10 + rng.Intn(30), 5 + rng.Intn(30)}})
		}
		out[i], _ = json.Marshal(req)
	}
	return out
}
