// Command flatviewings is the search page of a housing association.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"flatviewings/internal/access"
	"flatviewings/internal/listing"
	"flatviewings/internal/search"
	"flatviewings/internal/visitors"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 120, "searches a second")
	v2 := flag.Bool("v2", true, "second version of the page")
	flag.Parse()

	aln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	if err := access.Serve(aln); err != nil {
		log.Fatal(err)
	}
	ac, err := access.Dial(aln.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	pln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /search", &search.Page{Book: listing.Load(1500), Access: ac, V2: *v2})
	srv := &http.Server{Handler: mux}
	go srv.Serve(pln)

	res := visitors.Browse("http://"+pln.Addr().String(), *dur, *rate)
	srv.Close()
	ac.Close()
	n := len(res.Took)
	fmt.Printf("operations: %d\n", n)
	if n > 0 {
		fmt.Printf("searches: p50 %v p99 %v, %d bytes each, bad %d\n", res.Took[n/2], res.Took[n*99/100], res.Bytes/int64(n), res.Bad)
	}
}
