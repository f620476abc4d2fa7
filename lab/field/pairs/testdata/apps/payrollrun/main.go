// Payrollrun pays the people of all companies of an office, month by month.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"payrollrun/internal/run"
	"payrollrun/internal/staff"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	end := flag.String("end", "plain", "how a company's month ends: plain or compact")
	companies := flag.Int("companies", 24, "companies of the office")
	people := flag.Int("people", 500, "people of a company")
	flag.Parse()

	o := &run.Office{Companies: staff.Register(*companies, *people), Compact: *end == "compact"}
	months := 0
	for stop := time.Now().Add(*d); time.Now().Before(stop); months++ {
		if err := o.Month(months); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("operations: %d\n", o.Slips)
	fmt.Printf("companies paid: %d, net: %d.%02d, bytes: %d, seal %02x\n", months, o.Net/100, o.Net%100, o.Bytes, o.Sealed)
}
