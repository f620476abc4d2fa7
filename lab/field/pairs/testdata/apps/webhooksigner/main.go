// Webhooksigner signs events and hands them to those who subscribed.
package main

import (
	"flag"
	"fmt"
	"log"

	"webhooksigner/internal/deliver"
	"webhooksigner/internal/keys"
)

func main() {
	events := flag.Int("events", 1500, "events to deliver")
	tenants := flag.Int("tenants", 6, "tenants, each with a key")
	parsed := flag.Bool("parsed", false, "keep keys parsed")
	flag.Parse()
	ring, err := keys.NewRing(*tenants, *parsed)
	if err != nil {
		log.Fatal(err)
	}
	out := deliver.NewOutbox(ring)
	for i := range *events {
		e := deliver.Event{Tenant: i % *tenants, Kind: "order.paid", Body: fmt.Sprintf(`{"order":%d,"cents":%d}`, i, i*37%10000)}
		if err := out.Send(e); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Check(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", *events)
}
