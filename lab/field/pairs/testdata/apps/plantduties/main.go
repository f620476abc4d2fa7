// Plantduties issues the work orders of a plant when they are due.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"plantduties/internal/halls"
	"plantduties/internal/orders"
	"plantduties/internal/roster"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second form of the roster")
	rate := flag.Int("rate", 1500, "orders per second")
	flag.Parse()

	r := roster.New(*v2)
	now := time.Date(2025, 3, 3, 6, 0, 0, 0, time.UTC)
	if err := halls.Fill(r, 60, now); err != nil {
		log.Fatal(err)
	}
	n, size := halls.Run(r, &orders.Desk{Key: []byte("plant 4")}, *rate, *d)
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("orders of %d bytes on average\n", size/max(n, 1))
}
