// Throttlegate is a gate before an interface: each client may ask so often.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"throttlegate/internal/gate"
	"throttlegate/internal/limit"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	rate := flag.Int("rate", 1000, "requests a second of each client")
	perRoute := flag.Bool("per-request", false, "judge each request by itself")
	flag.Parse()
	g := gate.New(func() gate.Limiter { return limit.New(*rate) }, *perRoute)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"status":"open"}`) })
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, g.Wrap(mux)))
}
