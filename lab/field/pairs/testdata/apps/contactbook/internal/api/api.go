// Package api answers searches.
package api

import (
	"encoding/json"
	"net/http"

	"contactbook/internal/contacts"
)

// A Finder finds contacts.
type Finder interface {
	Find(text string, limit int) []contacts.Contact
}

// Handler serves a book.
func Handler(f Finder) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /contacts", func(w http.ResponseWriter, r *http.Request) {
		text := r.FormValue("text")
		if len(text) < 2 {
			http.Error(w, "type more", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(f.Find(text, 10))
	})
	return mux
}
