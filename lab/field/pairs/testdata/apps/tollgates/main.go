// Command tollgates runs a toll plaza hub together with a set of simulated
// lane controllers that talk to it over TCP.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"tollgates/internal/lanes"
	"tollgates/internal/session"
	"tollgates/internal/tariff"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second session protocol")
	flag.Parse()

	table := tariff.NewTable()
	hub := session.NewHub(table, *v2)

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go hub.Serve(ln)

	go hub.PublishEvery(250 * time.Millisecond)

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	stats := lanes.New(ln.Addr().String(), 60).Run(ctx)

	fmt.Printf("operations: %d\n", stats.Passages.Load())
	fmt.Printf("charged %.2f, %d links opened, %d tariff pushes seen\n",
		float64(stats.Cents.Load())/100, stats.Links.Load(), stats.Pushes.Load())
}
