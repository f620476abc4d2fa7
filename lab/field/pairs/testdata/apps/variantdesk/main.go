// Variantdesk tells storefronts which variants of their pages a visitor sees.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"variantdesk/internal/api"
	"variantdesk/internal/events"
	"variantdesk/internal/load"
	"variantdesk/internal/trials"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second layout of placements")
	rate := flag.Int("rate", 2000, "requests per second")
	flag.Parse()

	sink := events.NewSink([]byte("storefront-shared"))
	h := &api.Handler{Registry: trials.NewRegistry(trials.Sample(), *v2), Sink: sink}
	mux := http.NewServeMux()
	mux.Handle("POST /decide", h)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, mux)

	n := load.Run("http://"+l.Addr().String()+"/decide", *rate, *d)
	total, arms := sink.Totals()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("exposures %d in %d arms\n", total, arms)
}
