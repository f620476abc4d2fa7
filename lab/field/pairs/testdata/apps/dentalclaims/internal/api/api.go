// Package api is the service's HTTP side.
package api

import (
	"encoding/json"
	"net/http"

	"dentalclaims/internal/claims"
)

// New routes the requests of the practices.
func New(d *claims.Desk) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /claims", func(w http.ResponseWriter, r *http.Request) {
		var c claims.Claim
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		dec, err := d.Assess(c)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(dec)
	})
	return mux
}
