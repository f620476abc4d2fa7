// Throttlegate is a gate before an interface: each client may ask so often.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"throttlegate/internal/gate"
	"throttlegate/internal/limit"
	"throttlegate/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	rate := flag.Int("rate", 1000, "requests a second of each client")
	perRoute := flag.Bool("per-request", false, "judge each request by itself")
	flag.Parse()
	g := gate.New(func() gate.Limiter { return limit.New(*rate) }, *perRoute)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"status":"open"}`) })
	if err := ops.Serve(*addr, g.Wrap(mux)); err != nil {
		log.Fatal(err)
	}
}
