// Meterround reads the electricity meters of a town: a head-end at the substation is asked
// over a few lines for one meter after the other. What the line swallowed is asked for again.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"

	"meterround/internal/headend"
	"meterround/internal/link"
	"meterround/internal/patience"
	"meterround/internal/rounds"
)

func main() {
	meters := flag.Int("meters", 4800, "meters of the round")
	lines := flag.Int("lines", 10, "lines to the head-end")
	detail := flag.String("errors", "text", "how errors of a line are passed on: text or chain")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go headend.NewStation().Serve(l)

	dial := func() (*headend.Client, error) {
		line, err := link.Dial(l.Addr().String())
		if err != nil {
			return nil, err
		}
		return headend.NewClient(line, *detail)
	}
	round := rounds.Round{Dial: dial, Lines: *lines, Patience: patience.Default()}
	sum, err := round.Read(*meters)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d meters: %d read, %d kWh, %d taken down\n", *meters, sum.Read, sum.KWh, sum.Gone)
	fmt.Printf("operations: %d\n", *meters)
}
