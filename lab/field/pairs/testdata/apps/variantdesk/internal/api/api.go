// Package api answers the storefront.
package api

import (
	"encoding/json"
	"net/http"

	"variantdesk/internal/events"
	"variantdesk/internal/trials"
)

// Handler answers POST /decide.
type Handler struct {
	Registry *trials.Registry
	Sink     *events.Sink
}

// Request is what the storefront asks.
type Request struct {
	Visitor string            `json:"visitor"`
	Page    string            `json:"page"`
	Country string            `json:"country"`
	Device  map[string]string `json:"device"`
}

// Reply is what it gets.
type Reply struct {
	Placements []trials.Placement `json:"placements"`
	Token      string             `json:"token"`
}

// ServeHTTP places the visitor and notes the exposure.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req Request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if req.Visitor == "" || req.Page == "" {
		http.Error(w, "visitor and page are needed", http.StatusUnprocessableEntity)
		return
	}
	placed := h.Registry.Place(req.Visitor, req.Page, req.Country)
	token, err := h.Sink.Add(events.Exposure{Visitor: req.Visitor, Page: req.Page, Seen: placed})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(Reply{Placements: placed, Token: token})
}
