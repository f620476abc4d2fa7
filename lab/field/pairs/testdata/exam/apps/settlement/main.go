// Settlement compares what merchants have booked with what the bank has paid, merchant by
// merchant, as their statements come in.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"settlement/internal/ledger"
	"settlement/internal/match"
)

func main() {
	rate := flag.Int("rate", 450, "statements a second")
	length := flag.Duration("for", 7*time.Second, "how long statements come")
	scoped := flag.Bool("scoped", false, "cursors belong to the job that opens them")
	flag.Parse()

	books := ledger.NewBooks(900)
	bank := ledger.NewBank(900)
	desk := match.NewDesk(books, bank, match.Options{Scoped: *scoped, Workers: 4})
	jobs := make(chan match.Job)
	go func() {
		defer close(jobs)
		tick := time.NewTicker(time.Second / time.Duration(*rate))
		defer tick.Stop()
		for n := range int(length.Seconds() * float64(*rate)) {
			<-tick.C
			jobs <- match.Job{Merchant: n % 900, Day: n / 900}
		}
	}()
	sum, err := desk.Work(jobs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("matched:", sum.Matched, "differing:", sum.Differing, "cents open:", sum.Open)
	fmt.Printf("operations: %d\n", sum.Jobs)
}
