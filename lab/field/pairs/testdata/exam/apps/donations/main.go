// Donations serves what campaigns were given: lists to take home, and a first look at them.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"donations/internal/export"
	"donations/internal/ledger"
	"donations/internal/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	campaigns := flag.Int("campaigns", 12, "how many campaigns there are")
	gifts := flag.Int("gifts", 4000, "how many gifts a campaign was given")
	look := flag.String("look", "list", "where a first look comes from: list or rows")
	flag.Parse()

	books := ledger.New()
	for i := range *campaigns {
		books.Fill(fmt.Sprintf("campaign-%d", i), *gifts)
	}
	api, err := web.New(export.New(books), *look, 20)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	server := &http.Server{Handler: api.Routes(), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.Serve(l))
}
