// Package web serves searches.
package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"shopfilters/internal/catalog"
)

// Routes are the pages of the shop.
func Routes(c *catalog.Catalog) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) { search(c, w, r) })
	return mux
}

// conditions are what a request asks for, in the order of the form.
func conditions(r *http.Request) (out []catalog.Condition) {
	if text := r.FormValue("text"); text != "" {
		out = append(out, catalog.Resembles(text))
	}
	if category := r.FormValue("category"); category != "" {
		out = append(out, catalog.In(category))
	}
	if cents, err := strconv.Atoi(r.FormValue("below")); err == nil {
		out = append(out, catalog.Below(cents))
	}
	return append(out, catalog.Available())
}

func search(c *catalog.Catalog, w http.ResponseWriter, r *http.Request) {
	found := c.Search(conditions(r), 20)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found)
}
