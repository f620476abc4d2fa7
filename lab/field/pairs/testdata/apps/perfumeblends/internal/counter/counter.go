// Package counter serves the shop counters.
package counter

import (
	"encoding/json"
	"net/http"

	"perfumeblends/internal/blend"
	"perfumeblends/internal/recent"
)

// Desk answers questions about blends.
type Desk struct {
	Profiles *recent.Cache[*blend.Profile]
}

func (d *Desk) profile(parts []blend.Part) *blend.Profile {
	key := blend.Key(parts)
	if p, ok := d.Profiles.Get(key); ok {
		return p
	}
	p := blend.Unfold(parts)
	d.Profiles.Put(key, p)
	return p
}

// ServeHTTP handles POST /profiles with several blends.
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in [][]blend.Part
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := make([]*blend.Profile, len(in))
	for i, parts := range in {
		out[i] = d.profile(parts)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}
