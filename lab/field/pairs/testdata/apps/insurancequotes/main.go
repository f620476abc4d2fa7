// Insurancequotes computes premiums, which are kept for those who ask again.
package main

import (
	"flag"
	"log"
	"net/http"

	"insurancequotes/internal/cache"
	"insurancequotes/internal/ops"
	"insurancequotes/internal/premium"
	"insurancequotes/internal/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	by := flag.String("key", "terms", "what premiums are kept by: terms or request")
	flag.Parse()
	h := web.Handler{Premiums: premium.NewTable(), Kept: cache.New(5000), ByRequest: *by == "request"}
	mux := http.NewServeMux()
	mux.Handle("GET /premium", &h)
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
