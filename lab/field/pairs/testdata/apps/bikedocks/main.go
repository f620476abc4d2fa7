// Command bikedocks rents bicycles.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"time"

	"bikedocks/internal/dock"
	"bikedocks/internal/lease"
	"bikedocks/internal/rental"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	swept := flag.Bool("swept", true, "leases looked at in turn")
	bikes := flag.Int("bikes", 2500, "number of bicycles")
	rate := flag.Int("rate", 1000, "questions per second")
	flag.Parse()

	o := &rental.Office{
		Docks: dock.City(240),
		Desk:  lease.NewDesk(20*time.Millisecond, *swept),
		Key:   []byte("the lock on every wheel"),
		TTL:   2 * time.Second,
	}
	o.Open(*bikes)
	rng := rand.New(rand.NewPCG(6, 28))
	n := 0
	next := time.Now()
	for end := next.Add(*dur); next.Before(end); next = next.Add(time.Second / time.Duration(*rate)) {
		time.Sleep(time.Until(next))
		if err := o.Serve(rng); err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("%d bicycles held, %d leases expired, tickets of %d kB\n", o.Desk.Live(), o.Expired.Load(), o.Bytes>>10)
}
