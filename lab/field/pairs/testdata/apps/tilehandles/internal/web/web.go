// Package web serves tiles.
package web

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"tilehandles/internal/archive"
)

// Routes are the pages; /walk shows one tile after the other.
func Routes(a *archive.Archive, sheets int) http.Handler {
	mux := http.NewServeMux()
	show := func(w http.ResponseWriter, sheet, tile int) {
		b, err := a.Tile(sheet, tile)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "image/raw")
		_, _ = w.Write(b)
	}
	mux.HandleFunc("GET /sheets/{sheet}/{tile}", func(w http.ResponseWriter, r *http.Request) {
		sheet, err := strconv.Atoi(r.PathValue("sheet"))
		tile, err2 := strconv.Atoi(r.PathValue("tile"))
		if err != nil || err2 != nil {
			http.Error(w, "two numbers", http.StatusBadRequest)
			return
		}
		show(w, sheet, tile)
	})
	var steps atomic.Int64
	mux.HandleFunc("GET /walk", func(w http.ResponseWriter, _ *http.Request) {
		n := int(steps.Add(1))
		show(w, n%sheets, n*7919%4000)
	})
	return mux
}
