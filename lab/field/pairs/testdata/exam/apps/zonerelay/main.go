// Zonerelay passes questions for names on to the authority of their zone, over UDP, and
// asks once for what many want to know. Here the hosts of a campus ask it, so many times a
// second, and some of the names belong to a zone whose line is down.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"zonerelay/internal/authority"
	"zonerelay/internal/hosts"
	"zonerelay/internal/relay"
)

func main() {
	rate := flag.Int("rate", 3500, "questions a second")
	span := flag.Duration("for", 6*time.Second, "how long the hosts ask")
	var opt relay.Options
	flag.DurationVar(&opt.Patience, "patience", 0, "after which a question is answered with a failure (0: when the authority does)")
	flag.IntVar(&opt.Cache, "cache", 2000, "answers that are kept")
	flag.Parse()

	zone, err := authority.Listen("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go zone.Serve()
	r, err := relay.Listen("127.0.0.1:0", zone.Addr(), opt)
	if err != nil {
		log.Fatal(err)
	}
	r.Start()

	campus, err := hosts.Dial(r.Addr())
	if err != nil {
		log.Fatal(err)
	}
	tally, err := campus.Ask(*rate, *span)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d questions, %d answered\n", tally.Asked, tally.Answered)
	fmt.Printf("operations: %d\n", tally.Asked)
}
