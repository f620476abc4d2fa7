// Command concentrators takes the daily load profiles of electricity meters.
package main

import (
	"flag"
	"fmt"
	"time"

	"concentrators/internal/exceptions"
	"concentrators/internal/field"
	"concentrators/internal/intake"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 1000, "batches per second")
	v2 := flag.Bool("v2", true, "book exceptions by day")
	flag.Parse()

	book := exceptions.NewBook()
	in := intake.New(book, *v2)
	field.Report(in.Take, *rate, time.Now().Add(*span))

	batches, rejected, kwh := in.Figures()
	gaps, resets, tampers := book.Count()
	fmt.Printf("operations: %d\n", batches)
	fmt.Printf("%d refused, %d kWh\n", rejected, kwh)
	fmt.Printf("open: %d gaps, %d resets, %d tampers\n", gaps, resets, tampers)
}
