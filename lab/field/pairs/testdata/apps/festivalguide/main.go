// Command festivalguide tells festival visitors what is on next.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"festivalguide/internal/guide"
	"festivalguide/internal/phones"
	"festivalguide/internal/profile"
	"festivalguide/internal/programme"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	visitors := flag.Int("phones", 12, "phones in use")
	delay := flag.Duration("agency", 6*time.Millisecond, "time the agency takes for a profile")
	v2 := flag.Bool("v2", true, "second version of the guide")
	flag.Parse()

	agency, err := profile.Agency(*delay)
	if err != nil {
		log.Fatal(err)
	}
	defer agency.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /next", &guide.Guide{
		Programme: programme.New(3, 220),
		Profiles:  profile.NewClient(agency.Addr().String(), 128),
		V2:        *v2,
	})
	site := httptest.NewServer(mux)
	defer site.Close()

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *visitors}}
	until := time.Now().Add(*length)
	var stats phones.Stats
	var wg sync.WaitGroup
	for i := range *visitors {
		wg.Go(func() { stats.Use(client, site.URL, uint64(i), until) })
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", len(stats.Times))
	fmt.Printf("failed: %d, median: %v\n", stats.Failed, stats.Median().Round(100*time.Microsecond))
}
