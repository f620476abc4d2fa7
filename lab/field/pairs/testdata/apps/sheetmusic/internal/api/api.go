// Package api serves the catalogue.
package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"sheetmusic/internal/catalogue"
	"sheetmusic/internal/listing"
	"sheetmusic/internal/policy"
)

// New routes the requests.
func New(c *catalogue.Catalogue, l *listing.Lister) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		who := policy.Subject{Name: r.Header.Get("X-Reader"), Roles: strings.Split(r.Header.Get("X-Roles"), ",")}
		views := l.Page(who, c.Search(r.FormValue("q"), 80))
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(views)
	})
	return mux
}
