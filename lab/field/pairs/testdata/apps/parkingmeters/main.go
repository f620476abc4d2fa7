// Parkingmeters sells time on parking places and calls a warden when it is over.
package main

import (
	"flag"
	"fmt"
	"time"

	"parkingmeters/internal/meter"
	"parkingmeters/internal/warden"
)

func main() {
	places := flag.Int("places", 500, "parking places")
	payments := flag.Int("payments", 1200000, "coins that are put in")
	reset := flag.Bool("reset", true, "put the end off with each coin")
	flag.Parse()
	w := warden.New()
	street := meter.NewStreet(*places, w, *reset)
	start := time.Now()
	for i := range *payments {
		street.Pay(i*7919%*places, time.Duration(20+i%40)*time.Minute)
		if i%50000 == 0 {
			time.Sleep(20 * time.Millisecond) // the street is quiet
		}
	}
	fmt.Println("paid:", street.Paid(), "fined:", w.Fined(), "in", time.Since(start).Round(time.Millisecond))
	fmt.Printf("operations: %d\n", *payments)
}
