// Package orders lists orders.
package orders

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// An Order is one of a partner's.
type Order struct {
	ID    int       `json:"id"`
	Lines int       `json:"lines"`
	At    time.Time `json:"at"`
}

// A Handler lists orders.
type Handler struct{ all []Order }

// NewHandler makes orders up.
func NewHandler(n int, from time.Time) *Handler {
	h := &Handler{}
	for i := range n {
		h.all = append(h.all, Order{i, 1 + i%9, from.Add(time.Duration(-i) * time.Hour)})
	}
	return h
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("last"))
	if err != nil || n < 1 || n > len(h.all) {
		n = 20
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(h.all[:n])
}
