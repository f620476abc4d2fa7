// Invoicelines sends the lines of an account as a table, row by row.
package main

import (
	"flag"
	"log"
	"net/http"

	"invoicelines/internal/account"
	"invoicelines/internal/ops"
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
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
