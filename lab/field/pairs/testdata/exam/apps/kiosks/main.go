// Kiosks tells which kiosks are near.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"kiosks/internal/places"
	"kiosks/internal/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	names := flag.String("levels", "18", "levels of the index, from coarse to fine")
	n := flag.Int("kiosks", 20_000, "kiosks that there are")
	flag.Parse()
	levels, err := web.Levels(*names)
	if err != nil {
		log.Fatal("levels: ", err)
	}
	x := places.New(levels)
	places.Fill(x, *n)
	mux := http.NewServeMux()
	mux.Handle("GET /near", web.New(x))
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, mux))
}
