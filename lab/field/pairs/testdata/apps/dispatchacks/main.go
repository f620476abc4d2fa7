// Command dispatchacks sends rides to drivers and waits for their acknowledgements.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"dispatchacks/internal/dispatch"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	drivers := flag.Int("drivers", 40, "radios")
	rate := flag.Int("rate", 4000, "rides a second")
	patience := flag.Duration("patience", 45*time.Second, "wait for an acknowledgement")
	v2 := flag.Bool("v2", true, "second version of the window")
	flag.Parse()

	c := dispatch.Open(*drivers, *patience, *v2)
	n, err := c.Work(*rate, *length)
	if err != nil {
		log.Fatal(err)
	}
	km, again := c.Close()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("kilometres: %.0f, sent again: %d\n", km, again)
}
