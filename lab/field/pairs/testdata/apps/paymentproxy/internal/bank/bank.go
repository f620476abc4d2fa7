// Package bank stands for the bank.
package bank

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// A Handler takes payments up to a limit.
type Handler struct{ Limit int }

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p struct {
		Cents int    `json:"cents"`
		To    string `json:"to"`
	}
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, "no payment", http.StatusBadRequest)
		return
	}
	if p.Cents > h.Limit {
		http.Error(w, "too much", http.StatusForbidden)
		return
	}
	fmt.Fprintf(w, "paid %d to %s\n", p.Cents, p.To)
}
