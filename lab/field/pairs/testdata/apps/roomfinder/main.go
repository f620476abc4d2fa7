// Roomfinder searches flats to let.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"time"

	"roomfinder/internal/finder"
	"roomfinder/internal/flats"
	"roomfinder/internal/views"
	"roomfinder/internal/visitors"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "keep the present form of searches")
	rate := flag.Int("rate", 1100, "requests per second")
	flag.Parse()

	f := finder.New(flats.Stock(6000), 400, *kept)
	mux := http.NewServeMux()
	mux.Handle("GET /search", &views.Search{Finder: f})

	n, bytes := visitors.Browse(mux, visitors.Forms(300), *rate, *d)
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("pages of %d bytes on average\n", bytes/max(n, 1))
}
