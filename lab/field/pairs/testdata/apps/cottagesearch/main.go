// Command cottagesearch answers searches for holiday cottages.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"time"

	"cottagesearch/internal/guests"
	"cottagesearch/internal/offers"
	"cottagesearch/internal/web"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 2000, "searches per second")
	kept := flag.Bool("kept", true, "read filters in the kept way")
	flag.Parse()

	search := &web.Handler{Store: offers.NewStore(1200), Kept: *kept}
	mux := http.NewServeMux()
	mux.Handle("GET /search", search)
	ok, bad := guests.Run(mux, *rate, *d)
	fmt.Printf("operations: %d\n", ok)
	fmt.Printf("refused %d, cottages found %d\n", bad, search.Found.Load())
}
