// Package api serves quotes over HTTP.
package api

import (
	"encoding/json"
	"net/http"

	"freightquote/internal/quote"
)

func Handler(s *quote.Service) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /quotes", func(w http.ResponseWriter, r *http.Request) {
		var req quote.Request
		var res []quote.Offer
		err := json.NewDecoder(r.Body).Decode(&req)
		if err == nil {
			res, err = s.Quote(&req)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(res)
	})
	return mux
}
