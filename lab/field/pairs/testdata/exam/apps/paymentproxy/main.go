// Paymentproxy passes payments on to a bank and notes those that the bank refuses.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"paymentproxy/internal/bank"
	"paymentproxy/internal/notes"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	eager := flag.Bool("note-all", false, "take a note of each request before it is passed on")
	flag.Parse()
	keeper := notes.Keeper{Eager: *eager}
	mux := http.NewServeMux()
	mux.Handle("POST /pay", keeper.Wrap(bank.Handler{Limit: 1_000_000}))
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, mux))
}
