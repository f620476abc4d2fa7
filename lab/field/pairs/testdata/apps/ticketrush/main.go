// Command ticketrush runs the waiting room of a ticket sale.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"ticketrush/internal/queue"
	"ticketrush/internal/shop"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	early := flag.Int("early", 350000, "visitors before the start")
	rate := flag.Int("rate", 6000, "visitors per second after the start")
	v2 := flag.Bool("v2", true, "second version of the service")
	flag.Parse()

	end := time.Now().Add(*run)
	s := shop.New(queue.New(*v2))
	s.Presale(*early)
	first := s.Room.Open()

	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	begin, ops := time.Now(), 0
	for now := range tick.C {
		if now.After(end) {
			break
		}
		for due := int(time.Since(begin).Seconds() * float64(*rate)); ops < due; ops++ {
			if err := s.Visit(now); err != nil {
				log.Fatal(err)
			}
		}
		s.Step(now)
	}
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("%d early, %d sold, %d waiting, %d pages, %d kB\n", first, s.Sold, s.Room.Len(), s.Pages, s.Bytes>>10)
}
