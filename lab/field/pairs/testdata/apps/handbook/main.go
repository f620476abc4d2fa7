// Handbook serves the chapters of a handbook; browsers that have a chapter are told so.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"handbook/internal/chapters"
	"handbook/internal/ops"
	"handbook/internal/serve"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	kept := flag.Bool("kept", true, "keep what is known of a chapter beside it")
	flag.Parse()
	s := chapters.NewShelf()
	for i := range 20 {
		s.Put(chapters.Write(fmt.Sprintf("chapter-%02d", i), 120))
	}
	h := &serve.Handler{Shelf: s, Kept: *kept}
	mux := http.NewServeMux()
	mux.Handle("GET /handbook/{chapter}", h)
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
