// Exchangeboard shows rates of currencies, which it asks a bank for and keeps a while.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"exchangeboard/internal/bank"
	"exchangeboard/internal/ops"
	"exchangeboard/internal/rates"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	fresh := flag.Duration("fresh", 120*time.Millisecond, "how long a rate is good")
	apart := flag.Bool("apart", true, "ask for currencies apart from each other")
	flag.Parse()
	board := rates.NewBoard(bank.Bank{Think: 25 * time.Millisecond}, *fresh, *apart)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rates", func(w http.ResponseWriter, r *http.Request) {
		currency := r.FormValue("currency")
		if currency == "" {
			currency = bank.Pick()
		}
		rate, err := board.Rate(r.Context(), currency)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "%s %.4f\n", currency, rate)
	})
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
