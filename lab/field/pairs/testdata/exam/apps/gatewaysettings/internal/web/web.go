// Package web is where operators look at settings and change them.
package web

import (
	"encoding/json"
	"net/http"

	"gatewaysettings/internal/registry"
)

// Routes returns the handler of all requests.
func Routes(reg *registry.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /settings/{tenant}", func(w http.ResponseWriter, r *http.Request) {
		s, ok := reg.Get(r.PathValue("tenant"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		answer(w, s)
	})
	mux.HandleFunc("PATCH /settings/{tenant}", func(w http.ResponseWriter, r *http.Request) {
		var change map[string]string
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<10)).Decode(&change); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, reg.Put(r.PathValue("tenant"), change))
	})
	return mux
}

func answer(w http.ResponseWriter, s registry.Settings) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s)
}
