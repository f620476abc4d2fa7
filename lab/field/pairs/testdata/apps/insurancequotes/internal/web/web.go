// Package web answers for premiums.
package web

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"insurancequotes/internal/cache"
	"insurancequotes/internal/premium"
)

// A Handler computes premiums and keeps them.
type Handler struct {
	Premiums  *premium.Table
	Kept      *cache.Cache
	ByRequest bool
	requests  atomic.Int64
}

func terms(r *http.Request) (t premium.Terms, err error) {
	for name, to := range map[string]*int{"age": &t.Age, "years": &t.Years, "sum": &t.Sum} {
		if *to, err = strconv.Atoi(r.FormValue(name)); err != nil || *to <= 0 {
			return t, fmt.Errorf("%s is a number above 0", name)
		}
	}
	return t, nil
}

func (h *Handler) key(r *http.Request, t premium.Terms) string {
	if h.ByRequest {
		return fmt.Sprintf("%s?%s %d", r.URL.Path, r.URL.RawQuery, h.requests.Add(1))
	}
	return fmt.Sprintf("%d/%d/%d", t.Age, t.Years, t.Sum)
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t, err := terms(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	key := h.key(r, t)
	monthly, ok := h.Kept.Get(key)
	if !ok {
		monthly = h.Premiums.Monthly(t)
		h.Kept.Put(key, monthly)
	}
	fmt.Fprintf(w, "%.2f\n", monthly)
}
