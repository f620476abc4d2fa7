// Ledgertunnel lets the branches of a bank reach the ledger at its head office through a
// tunnel, which allows some branches and counts what they move. Here branches come for a few
// questions each, so many a second.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"ledgertunnel/internal/branch"
	"ledgertunnel/internal/ledger"
	"ledgertunnel/internal/tunnel"
)

func main() {
	rate := flag.Int("rate", 160, "visits a second")
	span := flag.Duration("for", 6*time.Second, "how long branches come")
	var opt tunnel.Options
	flag.BoolVar(&opt.HalfClose, "half-close", false, "tell one side when the other has said all")
	flag.DurationVar(&opt.Linger, "linger", 5*time.Second, "with -half-close, how long a side may go on after that")
	flag.Parse()

	head, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go ledger.New(5000).Serve(head)
	mouth, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	t := tunnel.New(head.Addr().String(), opt)
	go t.Serve(mouth)

	town := branch.Town{Addr: mouth.Addr().String(), Questions: 6}
	sum, err := town.Open(*rate, *span)
	if err != nil {
		log.Fatal(err)
	}
	up, down := t.Moved()
	fmt.Printf("%d visits, %d answers over %d cents, %d kB up and %d kB down\n", sum.Visits, sum.Answers, sum.Cents, up>>10, down>>10)
	fmt.Printf("operations: %d\n", sum.Visits)
}
