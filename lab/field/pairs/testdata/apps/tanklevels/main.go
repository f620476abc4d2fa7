// Tanklevels is the gateway of a tank farm: it takes levels from gauges and computes contents.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"tanklevels/internal/farm"
	"tanklevels/internal/gateway"
	"tanklevels/internal/vessel"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	ahead := flag.Int("ahead", 4096, "how far a gauge may be ahead, in bytes")
	every := flag.Duration("every", 20*time.Millisecond, "time between two bursts of a gauge")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	g := &gateway.Gateway{Ahead: *ahead, Shape: vessel.Shape{Radius: 2.6, Length: 14}}
	go g.Serve(ln)
	if err := farm.Run(ln.Addr().String(), 40, *every, *d); err != nil {
		log.Fatal(err)
	}
	ln.Close()
	levels, tonnes, packed := g.Totals()
	fmt.Printf("operations: %d\n", levels)
	fmt.Printf("tonnes in the farm: %.0f, packed pages: %d bytes\n", tonnes, packed)
}
