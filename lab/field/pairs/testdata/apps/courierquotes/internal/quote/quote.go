// Package quote serves prices.
package quote

import (
	"encoding/json"
	"net/http"
	"strconv"

	"courierquotes/internal/tariff"
)

// A Service answers requests for quotes.
type Service struct{ book *tariff.Book }

// NewService serves from a book.
func NewService(b *tariff.Book) *Service { return &Service{b} }

type answer struct {
	Zone   string         `json:"zone"`
	Grams  int            `json:"grams"`
	Prices []tariff.Price `json:"prices"`
}

// Handle answers one request.
func (s *Service) Handle(w http.ResponseWriter, r *http.Request) {
	grams, err := strconv.Atoi(r.FormValue("grams"))
	if err != nil || grams <= 0 {
		http.Error(w, "grams is a number above 0", http.StatusBadRequest)
		return
	}
	a := answer{Zone: r.FormValue("zone"), Grams: grams}
	if a.Prices = s.book.Prices(a.Zone, grams); len(a.Prices) == 0 {
		http.Error(w, "nobody delivers there", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}
