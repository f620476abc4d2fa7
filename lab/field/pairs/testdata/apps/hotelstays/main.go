// hotelstays runs the front desks of a chain of hotels.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"hotelstays/internal/desk"
	"hotelstays/internal/folio"
	"hotelstays/internal/registry"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the garage interface")
	flag.Parse()

	reg := registry.New(registry.Options{Garage2: *v2})
	tariff := folio.LoadTariff(2000)
	desks := make([]*desk.Desk, 2)
	for i := range desks {
		desks[i] = desk.New(reg, tariff, i, 3000)
	}
	stop := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for _, d := range desks {
		wg.Go(func() {
			for time.Now().Before(stop) {
				d.Shift(100)
			}
		})
	}
	wg.Wait()
	var t desk.Totals
	for _, d := range desks {
		t = t.Plus(d.Totals())
	}
	fmt.Printf("operations: %d\n", t.Ops)
	fmt.Printf("arrivals: %d, departures: %d, in house: %d\n", t.Arrivals, t.Departures, reg.InHouse())
	fmt.Printf("barrier opened: %d, refused: %d, revenue: %.2f\n", t.Opened, t.Refused, float64(t.Revenue)/100)
}
