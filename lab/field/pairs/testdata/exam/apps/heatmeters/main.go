// Heatmeters takes the readings of the meters in houses, whose gateways send them over TLS
// every few hundred milliseconds.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"heatmeters/internal/gateways"
	"heatmeters/internal/httpd"
	"heatmeters/internal/readings"
)

func main() {
	cfg := httpd.Config{Addr: "127.0.0.1:0", HeaderLimit: 8 << 10}
	seconds := flag.Int("seconds", 6, "how long it works")
	houses := flag.Int("houses", 90, "how many gateways send")
	every := flag.Duration("every", 450*time.Millisecond, "how often a gateway sends")
	flag.DurationVar(&cfg.Read, "read", 200*time.Millisecond, "in what time a request must be there")
	flag.DurationVar(&cfg.Write, "write", 2*time.Second, "in what time an answer must be gone")
	flag.DurationVar(&cfg.Keep, "keep", 0, "how long a gateway may be silent; 0 is the default of the server")
	flag.Parse()

	book := readings.NewBook(240)
	server, err := httpd.Start(cfg, httpd.Routes(book))
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	fleet := gateways.New(server.URL, server.Roots, *houses)
	n, err := fleet.Send(*every, time.Duration(*seconds)*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("energy of all houses: %.1f kWh\n", book.Total())
	fmt.Printf("operations: %d\n", n)
}
