// Package stream writes scores as they come.
package stream

import (
	"encoding/json"
	"net/http"

	"liveboard/internal/games"
)

// A Handler writes some scores of a game and ends.
type Handler struct {
	Hub    *games.Hub
	Scores int
}

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	watcher := h.Hub.Watch(r.PathValue("game"))
	defer h.Hub.Leave(watcher)
	w.Header().Set("Content-Type", "application/x-ndjson")
	enc := json.NewEncoder(w)
	for range h.Scores {
		select {
		case s := <-watcher.Scores():
			if enc.Encode(s) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
