// Slipprinter lays out the slips of shops and passes them on to their printers.
package main

import (
	"flag"
	"fmt"
	"time"

	"slipprinter/internal/shop"
	"slipprinter/internal/slip"
	"slipprinter/internal/till"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "keep pages as they are")
	rate := flag.Int("rate", 15000, "slips a second")
	flag.Parse()

	l := &till.Layout{Width: 42, Kept: *kept}
	var jobs, in, frames int64
	for _, q := range shop.Open(l, slip.Stock(500), *rate, 6, *d) {
		jobs += q.Jobs.Load()
		in += q.In.Load()
		frames += q.Frames.Load()
	}
	fmt.Printf("operations: %d\n", jobs)
	fmt.Printf("commands: %d bytes, frames: %d\n", in, frames)
}
