// Command kennelqueries serves a kennel's registry to its front desks.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"kennelqueries/internal/registry"
	"kennelqueries/internal/server"
	"kennelqueries/internal/visitors"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	desks := flag.Int("desks", 6, "front desks")
	round := flag.Int("round", 48, "commands in one round")
	v2 := flag.Bool("v2", true, "second version of the session")
	flag.Parse()

	const animals = 20000
	s := &server.Server{Animals: registry.Open(animals), V2: *v2}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)

	until := time.Now().Add(*length)
	var total atomic.Int64
	var wg sync.WaitGroup
	for i := 0; i < *desks; i++ {
		wg.Go(func() {
			n, err := visitors.Desk(l.Addr().String(), uint64(i), animals, *round, until)
			if err != nil {
				log.Print(err)
			}
			total.Add(n)
		})
	}
	wg.Wait()
	l.Close()
	fmt.Printf("operations: %d\n", total.Load())
	fmt.Printf("animals: %d, moves: %d\n", animals, s.Moves.Load())
}
