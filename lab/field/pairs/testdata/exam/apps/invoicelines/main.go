// Invoicelines sends the lines of an account as a table, row by row.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"invoicelines/internal/account"
	"invoicelines/internal/table"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	lines := flag.Int("lines", 1500, "lines of an account")
	every := flag.Int("flush", 0, "flush after so many rows; 0 is at the end")
	flag.Parse()
	h := table.Handler{Lines: account.Generate(*lines), FlushEvery: *every}
	mux := http.NewServeMux()
	mux.Handle("GET /accounts/{account}", h)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, mux))
}
