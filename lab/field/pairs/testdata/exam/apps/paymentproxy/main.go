// Paymentproxy passes payments on to a bank and notes those that the bank refuses.
package main

import (
	"flag"
	"log"
	"net/http"

	"paymentproxy/internal/bank"
	"paymentproxy/internal/notes"
	"paymentproxy/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	eager := flag.Bool("note-all", false, "take a note of each request before it is passed on")
	flag.Parse()
	keeper := notes.Keeper{Eager: *eager}
	mux := http.NewServeMux()
	mux.Handle("POST /pay", keeper.Wrap(bank.Handler{Limit: 1_000_000}))
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
