// Command deednotary seals batches of property deeds.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"deednotary/internal/deed"
	"deednotary/internal/intake"
	"deednotary/internal/ledger"
	"deednotary/internal/tree"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	size := flag.Int("size", 600, "deeds in a batch")
	grain := flag.Int("grain", 256, "leaves of a subtree")
	v2 := flag.Bool("v2", true, "use -grain")
	flag.Parse()

	b := &tree.Builder{}
	if *v2 {
		b.Grain = *grain
	}
	books := ledger.Open("notary of the valley")
	o := &intake.Office{Ledger: books, Tree: b}
	n, err := o.Work(deed.Samples(6000), *size, time.Now().Add(*length))
	if err != nil {
		log.Fatal(err)
	}
	batches, deeds, price := books.Totals()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("batches: %d, deeds: %d, price: %d\n", batches, deeds, price)
}
