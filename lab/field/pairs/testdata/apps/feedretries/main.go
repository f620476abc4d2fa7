// Feedretries fetches feeds from a server that lets only so many through.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"feedretries/internal/fetch"
	"feedretries/internal/origin"
)

func main() {
	feeds := flag.Int("feeds", 1200, "feeds to fetch")
	workers := flag.Int("workers", 16, "how many are fetched at once")
	wait := flag.Duration("wait", 40*time.Millisecond, "how long a worker waits before it tries again")
	flag.Parse()
	o := origin.New(240)
	server := httptest.NewServer(o)
	defer server.Close()
	f := fetch.Fetcher{
		URL: server.URL, Workers: *workers, Wait: *wait, Attempts: 1_000_000,
		Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *workers}},
	}
	n, err := f.All(context.Background(), *feeds)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("fetched:", n, "asked:", o.Asked())
	fmt.Printf("operations: %d\n", *feeds)
}
