// Package api is the interface for the shops.
package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"bakeryfranchise/internal/orders"
)

// Handler answers POST /orders and GET /stock.
func Handler(s *orders.Service) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var o orders.Order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		receipt, err := s.Place(r.Context(), o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(receipt)
	})
	mux.HandleFunc("GET /stock", func(w http.ResponseWriter, r *http.Request) {
		n, err := s.Stock(r.Context(), r.FormValue("item"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, n)
	})
	return mux
}
