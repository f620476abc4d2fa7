// Package web answers those who look for a kiosk.
package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"kiosks/internal/grid"
	"kiosks/internal/places"
)

// A Handler serves /near?km=R, with lat and lon or the next one of some squares of the city.
type Handler struct {
	index *places.Index
	next  atomic.Uint64
}

// New returns a handler.
func New(x *places.Index) *Handler { return &Handler{index: x} }

func (h *Handler) point(r *http.Request) (grid.Point, error) {
	q := r.URL.Query()
	if !q.Has("lat") {
		n := h.next.Add(1)
		return grid.Point{
			Lat: places.Centre.Lat + float64(n*37%101)/500 - 0.1,
			Lon: places.Centre.Lon + float64(n*53%103)/300 - 0.17,
		}, nil
	}
	lat, err := strconv.ParseFloat(q.Get("lat"), 64)
	if err != nil {
		return grid.Point{}, err
	}
	lon, err := strconv.ParseFloat(q.Get("lon"), 64)
	return grid.Point{Lat: lat, Lon: lon}, err
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, err := h.point(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	km, err := strconv.ParseFloat(r.URL.Query().Get("km"), 64)
	if err != nil || km <= 0 || km > 40 {
		http.Error(w, "km is to be more than 0 and at most 40", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(h.index.Within(p, km, 20))
}

// Levels reads the levels of an index, separated by commas.
func Levels(s string) (out []int, err error) {
	for _, f := range strings.Split(s, ",") {
		l, err := strconv.Atoi(f)
		if err != nil || l < 1 || l > grid.MaxLevel {
			return nil, strconv.ErrRange
		}
		out = append(out, l)
	}
	return out, nil
}
