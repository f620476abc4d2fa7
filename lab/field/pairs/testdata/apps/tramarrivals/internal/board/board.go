// Package board answers who asks when the next trams come.
package board

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tramarrivals/internal/live"
)

// Arrival is one line of a board.
type Arrival struct {
	Line    int    `json:"line"`
	Tram    int    `json:"tram"`
	Seconds int    `json:"seconds"`
	Note    string `json:"note,omitempty"`
}

// Handler serves /stop?line=..&metre=..
type Handler struct {
	Net   *live.Network
	Notes *Notes
}

// Notes are the remarks of the control room, kept in its own system.
type Notes struct{ Latency time.Duration }

// For returns the remark for a stop.
func (n *Notes) For(metre int) string {
	time.Sleep(n.Latency)
	if metre%7 == 0 {
		return "lift out of order"
	}
	return ""
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	line, err1 := strconv.Atoi(q.Get("line"))
	metre, err2 := strconv.Atoi(q.Get("metre"))
	if err1 != nil || err2 != nil {
		http.Error(w, "bad stop", http.StatusBadRequest)
		return
	}
	note := h.Notes.For(metre)
	var all []Arrival
	for l := line; l < line+3; l++ {
		for _, p := range h.Net.Trams(l) {
			d := (metre - p.Metre + 18000) % 18000
			all = append(all, Arrival{Line: l, Tram: p.Tram, Seconds: d/8 + p.Delay, Note: note})
		}
	}
	slices.SortFunc(all, func(a, b Arrival) int { return cmp.Compare(a.Seconds, b.Seconds) })
	body, err := json.Marshal(all[:min(len(all), 30)])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", base64.RawURLEncoding.EncodeToString(sum[:]))
	w.Write(body)
}
