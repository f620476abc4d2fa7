// Gantry reports the passages of a motorway's lanes to a clearing house, which prices them
// and sends receipts. Here both run in one process, with a day of passages.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"

	"gantry/internal/clearing"
	"gantry/internal/lane"
)

func main() {
	lanes := flag.Int("lanes", 8, "lanes of the gantry")
	passages := flag.Int("passages", 1000, "passages of all lanes")
	coalesce := flag.Bool("coalesce", true, "let the kernel put what is written into full segments")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	house := clearing.NewHouse(clearing.Tariffs())
	go house.Serve(l)

	g := lane.Gantry{Addr: l.Addr().String(), Coalesce: *coalesce, Lanes: *lanes}
	report, err := g.Day(*passages)
	if err != nil {
		log.Fatal(err)
	}
	l.Close()
	fmt.Printf("%d receipts over %d cents, %d passages without a plate\n", report.Receipts, report.Cents, report.Unread)
	fmt.Printf("operations: %d\n", report.Receipts)
}
