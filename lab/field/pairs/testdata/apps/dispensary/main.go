// Command dispensary lets picking arms prepare the dose orders of a hospital.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"dispensary/internal/journal"
	"dispensary/internal/night"
	"dispensary/internal/order"
	"dispensary/internal/robot"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	direct := flag.Bool("direct", true, "gather the journal's batches directly")
	flag.Parse()
	if err := run(*span, *direct); err != nil {
		log.Fatal(err)
	}
}

func run(span time.Duration, direct bool) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go robot.Serve(ln)
	f, err := os.CreateTemp("", "dispensary")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	var arms []*robot.Arm
	for range 14 {
		a, err := robot.Connect(ln.Addr().String())
		if err != nil {
			return err
		}
		arms = append(arms, a)
	}
	s := &night.Shift{Journal: journal.Open(f, direct)}
	if s.Orders, err = order.Orders(1500); err != nil {
		return err
	}
	s.Run(arms, time.Now().Add(span))
	fmt.Printf("operations: %d\n", s.Done.Load())
	fmt.Printf("%d bags, %d orders rejected, %d batches\n", s.Bags.Load(), s.Rejected.Load(), s.Journal.Batches)
	return nil
}
