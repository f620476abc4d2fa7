// Package origin stands for the server that draws tiles.
package origin

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// Handler draws each tile in a time.
func Handler(draw time.Duration) http.Handler {
	tile := bytes.Repeat([]byte("tile"), 500)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{z}/{x}/{y}", func(w http.ResponseWriter, r *http.Request) {
		if _, err := strconv.Atoi(r.PathValue("z")); err != nil {
			http.Error(w, "no such zoom", http.StatusBadRequest)
			return
		}
		time.Sleep(draw)
		w.Header().Set("Content-Type", "image/tile")
		_, _ = w.Write(tile)
	})
	return mux
}
