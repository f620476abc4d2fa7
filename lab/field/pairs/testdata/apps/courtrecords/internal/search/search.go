// Package search answers searches over the registries.
package search

import (
	"encoding/json"
	"net/http"

	"courtrecords/internal/registry"
	"courtrecords/internal/signon"
)

// Service is the search service.
type Service struct {
	tokens   signon.Source
	registry *registry.Registry
}

// New makes the service.
func New(tokens signon.Source, reg *registry.Registry) *Service {
	return &Service{tokens: tokens, registry: reg}
}

// ServeHTTP answers GET /search?court=..&q=..
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("court")
	tok, err := s.tokens.Token(r.Context(), name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	found, err := s.registry.Find(name, tok.Value, r.FormValue("q"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(found)
}
