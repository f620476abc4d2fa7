// Command surgerylists makes the daily lists of operating theatres.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"surgerylists/internal/nightly"
	"surgerylists/internal/plan"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	hospitals := flag.Int("hospitals", 40, "number of hospitals")
	resolved := flag.Bool("resolved", true, "order resolved cases")
	flag.Parse()

	n := nightly.New(plan.Planner{Resolved: *resolved}, *hospitals)
	if err := n.Work(*d, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", n.Lists.Load())
	fmt.Printf("cases %d, overrun minutes %d\n", n.Cases.Load(), n.Overruns.Load())
}
