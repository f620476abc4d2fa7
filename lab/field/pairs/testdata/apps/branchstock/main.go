// Branchstock answers which branch of a chain has an article.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"branchstock/internal/branch"
	"branchstock/internal/catalog"
	"branchstock/internal/search"
	"branchstock/internal/shoppers"
)

func main() {
	begin := time.Now()
	d := flag.Duration("for", 5*time.Second, "how long to run")
	width := flag.Int("width", 16, "width of the catalog's lines")
	branches := flag.Int("branches", 90, "branches of the chain")
	rate := flag.Int("rate", 1200, "shoppers a second")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, branch.Handler(150, 18*time.Millisecond))

	c := &catalog.Catalog{URL: "http://" + ln.Addr().String(), Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *width}}}
	if err := c.Fill(*branches, *width); err != nil {
		log.Fatal(err)
	}
	var crowd shoppers.Crowd
	crowd.Shop(&search.Engine{Catalog: c}, *branches, *rate, begin.Add(*d))
	fmt.Printf("operations: %d\n", crowd.Asked.Load())
	fmt.Printf("articles: %d, hits: %d, answers: %d bytes\n", c.Len(), crowd.Hits.Load(), crowd.Bytes.Load())
}
