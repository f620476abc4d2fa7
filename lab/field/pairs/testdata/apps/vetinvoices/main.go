// Command vetinvoices makes the monthly invoices of veterinary practices.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"vetinvoices/internal/practice"
	"vetinvoices/internal/record"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 300, "months per second")
	planned := flag.Bool("planned", true, "fill records by plan")
	flag.Parse()

	c := &practice.Closing{Mapper: &record.Mapper{Planned: *planned}}
	if err := c.Run(*d, 2, *rate); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", c.Months.Load())
	fmt.Printf("invoices %d, %d EUR\n", c.Invoices.Load(), c.Euros.Load())
}
