// Partnerkeys is the door of an interface for partners, who send a key with each request.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"partnerkeys/internal/auth"
	"partnerkeys/internal/ops"
	"partnerkeys/internal/orders"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	believed := flag.Duration("believed", 0, "how long a key that was right is believed")
	rounds := flag.Int("rounds", 20000, "rounds of the derivation of keys")
	flag.Parse()
	guard := auth.NewGuard(*rounds, *believed)
	for i := range 40 {
		if err := guard.Add(fmt.Sprintf("partner%02d", i), fmt.Sprintf("secret-of-%02d", i)); err != nil {
			log.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /orders", guard.Protect(orders.NewHandler(400, time.Now())))
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
