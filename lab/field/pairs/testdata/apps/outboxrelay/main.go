// Outboxrelay takes messages out of a table and hands them to a broker.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"outboxrelay/internal/broker"
	"outboxrelay/internal/relay"
)

func main() {
	messages := flag.Int("messages", 12000, "messages in the table")
	batch := flag.Int("batch", 64, "messages that are sent before their receipts are read")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go broker.Serve(l, 250*time.Microsecond)
	r, err := relay.Dial(l.Addr().String(), *batch)
	if err != nil {
		log.Fatal(err)
	}
	sent, err := r.Drain(relay.NewTable(*messages))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sent:", sent)
	fmt.Printf("operations: %d\n", *messages)
}
