// Paymentproxy passes payments on to a bank and notes those that the bank refuses. Here
// it goes through the payments of a day once more, as they came in.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"paymentproxy/internal/bank"
	"paymentproxy/internal/notes"
	"paymentproxy/internal/replay"
)

func main() {
	payments := flag.Int("payments", 150000, "payments of the day")
	eager := flag.Bool("note-all", false, "take a note of each request before it is passed on")
	flag.Parse()
	keeper := notes.Keeper{Eager: *eager}
	mux := http.NewServeMux()
	mux.Handle("POST /pay", keeper.Wrap(bank.Handler{Limit: 1_000_000}))
	day := replay.Day{Handler: mux, Payments: *payments}
	paid, refused, err := day.Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("paid:", paid, "refused:", refused)
	fmt.Printf("operations: %d\n", *payments)
}
