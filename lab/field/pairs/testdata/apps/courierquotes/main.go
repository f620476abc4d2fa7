// Courierquotes answers what a parcel costs, by the tariffs of its carriers.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"courierquotes/internal/ops"
	"courierquotes/internal/quote"
	"courierquotes/internal/tariff"
)

// config is how the service is set up.
type config struct {
	addr     string
	carriers int
	zones    int
	book     tariff.Options
}

func parse() (c config) {
	flag.StringVar(&c.addr, "addr", "127.0.0.1:8080", "where to serve")
	flag.IntVar(&c.carriers, "carriers", 12, "how many carriers deliver")
	flag.IntVar(&c.zones, "zones", 150, "zones of each carrier")
	flag.BoolVar(&c.book.Live, "live", false, "take tariffs as they are now")
	flag.Parse()
	return c
}

func main() {
	c := parse()
	book := tariff.NewBook(c.book)
	for i := range c.carriers {
		book.Add(tariff.Generate(fmt.Sprintf("carrier-%02d", i), c.zones, int64(i)))
	}
	service := quote.NewService(book)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quote", service.Handle)
	if err := ops.Serve(c.addr, mux); err != nil {
		log.Fatal(err)
	}
}
