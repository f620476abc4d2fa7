// Reportdeadline makes reports of sales; who waits too long is told to come again.
package main

import (
	"flag"
	"log"
	"net/http"
	"time"

	"reportdeadline/internal/ops"
	"reportdeadline/internal/report"
	"reportdeadline/internal/sales"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	patience := flag.Duration("patience", 25*time.Millisecond, "how long a client waits")
	heed := flag.Bool("heed", true, "end what nobody waits for")
	flag.Parse()
	maker := report.Maker{Sales: sales.Generate(20000), Heed: *heed}
	mux := http.NewServeMux()
	mux.Handle("GET /reports/{kind}", http.TimeoutHandler(maker, *patience, "come again"))
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
