// Command dentalclaims decides the claims of dental practices.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"dentalclaims/internal/api"
	"dentalclaims/internal/claims"
	"dentalclaims/internal/settings"
	"dentalclaims/internal/tariff"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "variant of the tariff book")
	flag.Parse()

	docs := settings.New()
	plans := []string{"basic", "family", "student", "senior", "premium"}
	for i, p := range plans {
		docs.Put("schedule/"+p, settings.Schedule(i+3, 700))
	}
	desk := claims.NewDesk(tariff.NewBook(docs, *kept))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, api.New(desk))
	url := "http://" + ln.Addr().String() + "/claims"

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

	var done, paid, review atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*span)
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 11))
			tick := time.NewTicker(8 * time.Millisecond)
			defer tick.Stop()
			for n := 0; time.Now().Before(end); n++ {
				<-tick.C
				c := claims.Claim{ID: fmt.Sprintf("c%d-%d", w, n), Plan: plans[rng.IntN(len(plans))], Xray: make([]byte, 12<<10)}
				for i := range c.Xray {
					c.Xray[i] = byte(i * w)
				}
				for range 4 + rng.IntN(20) {
					c.Items = append(c.Items, claims.Item{Code: fmt.Sprintf("D%04d", 1000+rng.IntN(2100)), Tooth: rng.IntN(32), Cents: 2000 + rng.IntN(30000)})
				}
				body, _ := json.Marshal(c)
				resp, err := client.Post(url, "application/json", bytes.NewReader(body))
				if err != nil {
					log.Print(err)
					return
				}
				var d claims.Decision
				err = json.NewDecoder(resp.Body).Decode(&d)
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil {
					log.Print(err)
					return
				}
				done.Add(1)
				paid.Add(int64(d.Total))
				if d.Review {
					review.Add(1)
				}
			}
		})
	}
	for day := 0; time.Now().Before(end); day++ {
		time.Sleep(time.Second)
		docs.Put("schedule/"+plans[day%len(plans)], settings.Schedule(day+5, 700))
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	fmt.Printf("paid %d cents, %d claims to review\n", paid.Load(), review.Load())
}
