// Maptiles serves tiles of a map, which workers fetch from an origin.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"maptiles/internal/origin"
	"maptiles/internal/upstream"
)

func main() {
	tiles := flag.Int("tiles", 6000, "tiles to fetch")
	workers := flag.Int("workers", 24, "how many are fetched at once")
	idle := flag.Int("idle", 24, "connections that are kept for later")
	flag.Parse()
	server := httptest.NewServer(origin.Handler(2 * time.Millisecond))
	defer server.Close()
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext: dialer.DialContext, MaxIdleConnsPerHost: *idle, MaxIdleConns: 100, IdleConnTimeout: time.Minute,
	}}
	f := upstream.Fetcher{Base: server.URL, Client: client, Workers: *workers, Store: func(size int64) { time.Sleep(time.Duration(size) * time.Microsecond * 2) }}
	bytes, err := f.Region(*tiles)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("bytes:", bytes)
	fmt.Printf("operations: %d\n", *tiles)
}
