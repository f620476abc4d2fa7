// Package web answers the searches.
package web

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strconv"
	"sync/atomic"

	"cottagesearch/internal/offers"
	"cottagesearch/internal/query"
)

type Handler struct {
	Store *offers.Store
	Kept  bool
	Found atomic.Int64
}

type answer struct {
	Total    int              `json:"total"`
	Page     int              `json:"page"`
	Currency string           `json:"currency"`
	Cottages []offers.Cottage `json:"cottages"`
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := query.Filter(query.Of(r, h.Kept))
	if f.Region == "" {
		http.Error(w, "region is missing", http.StatusBadRequest)
		return
	}
	page, total := h.Store.Find(f)
	h.Found.Add(int64(total))
	body, err := json.Marshal(answer{Total: total, Page: f.Page, Currency: f.Currency, Cottages: page})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := fnv.New64a()
	sum.Write(body)
	w.Header().Set("ETag", strconv.Quote(strconv.FormatUint(sum.Sum64(), 36)))
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
