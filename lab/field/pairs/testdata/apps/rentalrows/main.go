// Rentalrows tells whether a bicycle is free, by what a database knows.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"rentalrows/internal/ops"
	"rentalrows/internal/records"
	"rentalrows/internal/rental"
)

func serve(bikes int) string {
	s := &records.Server{Think: 150 * time.Microsecond, Tables: map[string]records.Table{"rentals": {}}}
	for i := range bikes {
		key := fmt.Sprintf("b%d", i)
		for k := range 4 {
			s.Tables["rentals"][key] = append(s.Tables["rentals"][key], fmt.Sprintf("%d to %d", k*6, k*6+3))
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)
	return l.Addr().String()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	bikes := flag.Int("bikes", 500, "bicycles")
	first := flag.Bool("first", false, "answer by the first rental")
	flag.Parse()
	desk := rental.Desk{DB: records.Open(serve(*bikes)), First: *first}
	desk.DB.SetMaxIdleConns(16)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bikes/{bike}", func(w http.ResponseWriter, r *http.Request) {
		next, err := desk.Next(r.Context(), r.PathValue("bike"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		fmt.Fprintln(w, "rented from", next)
	})
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
