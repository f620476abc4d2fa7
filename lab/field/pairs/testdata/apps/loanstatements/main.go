// Loanstatements writes the statements of loans in a nightly run.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"loanstatements/internal/batch"
	"loanstatements/internal/ledger"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second rules of posting")
	flag.Parse()

	places := 0
	if *v2 {
		places = 12
	}
	r, err := batch.Night(ledger.New(places), *d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", r.Loans)
	fmt.Printf("%d lines, statements of %d bytes packed on average\n", r.Lines, r.Packed/max(r.Loans, 1))
}
