// Command passportcheck runs the passport readers of a border station.
package main

import (
	"flag"
	"fmt"
	"time"

	"passportcheck/internal/passport"
	"passportcheck/internal/station"
	"passportcheck/internal/travellers"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	readers := flag.Int("readers", 4, "passport readers")
	rate := flag.Int("rate", 700, "travellers a second")
	v2 := flag.Bool("v2", true, "second version of the station")
	flag.Parse()

	docs := passport.Issue(300)
	row := station.Open(*readers, *v2)
	l := travellers.Arrive(row, docs, *rate, *length)
	fmt.Printf("operations: %d\n", len(l.Checked))
	fmt.Printf("valid: %d, went away: %d, p99: %v\n", row.Valid.Load(), l.Away, l.P99().Round(time.Millisecond))
}
