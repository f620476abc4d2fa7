// Command sheetmusic serves the catalogue of a network of music libraries.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"sheetmusic/internal/api"
	"sheetmusic/internal/catalogue"
	"sheetmusic/internal/listing"
	"sheetmusic/internal/policy"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	grouped := flag.Bool("grouped", true, "variant of the lister")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, api.New(catalogue.New(4000), listing.New(policy.New(), *grouped)))
	base := "http://" + ln.Addr().String() + "/search?q="

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

	var ops, bytes atomic.Int64
	var wg sync.WaitGroup
	roles := []string{"visitor", "member", "conductor", "librarian", "archivist,player"}
	forms := []string{"sonata byrd", "mass", "suite holst", "fugue no. 7", "march elgar", "overture smyth"}
	end := time.Now().Add(*span)
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 6))
			tick := time.NewTicker(40 * time.Millisecond)
			defer tick.Stop()
			for time.Now().Before(end) {
				<-tick.C
				req, err := http.NewRequest("GET", base+url.QueryEscape(forms[rng.IntN(len(forms))]), nil)
				if err != nil {
					log.Fatal(err)
				}
				req.Header.Set("X-Reader", fmt.Sprintf("reader%d", rng.IntN(500)))
				req.Header.Set("X-Roles", roles[rng.IntN(len(roles))])
				resp, err := client.Do(req)
				if err != nil {
					log.Fatal(err)
				}
				n, err := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil {
					log.Fatal(err)
				}
				bytes.Add(n)
				ops.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("%d bytes of listings\n", bytes.Load())
}
