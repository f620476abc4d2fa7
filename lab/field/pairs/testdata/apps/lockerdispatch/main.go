// Lockerdispatch tells the lockers of a station to open, as parcels are paid for.
package main

import (
	"flag"
	"fmt"
	"time"

	"lockerdispatch/internal/dispatch"
	"lockerdispatch/internal/lockers"
)

func main() {
	seconds := flag.Int("seconds", 5, "how long it works")
	eager := flag.Bool("eager", false, "look for orders all the time")
	flag.Parse()
	station := lockers.New(60)
	d := dispatch.New(station, *eager)
	done := make(chan struct{})
	finished := make(chan int)
	go func() { finished <- d.Run(done) }()
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	for i := 0; time.Now().Before(end); i++ {
		d.Paid(i * 7 % 60)
		if i%5 == 0 {
			d.Returned(i * 11 % 60)
		}
		time.Sleep(3 * time.Millisecond)
	}
	close(done)
	fmt.Println("opened:", station.Opened())
	fmt.Printf("operations: %d\n", <-finished)
}
