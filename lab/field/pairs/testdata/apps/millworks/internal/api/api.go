// Package api answers the planners' questions.
package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"millworks/internal/catalogue"
	"millworks/internal/stock"
)

// API has the machines and the stores.
type API struct {
	Machines []*catalogue.Part
	Stock    *stock.Store
	Sheets   bool
}

type order struct {
	Machine int
	Count   int
}

// Handler routes the questions.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /machines/{id}", a.machine)
	mux.HandleFunc("POST /missing", a.missing)
	return mux
}

func (a *API) machine(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id < 0 || id >= len(a.Machines) {
		http.NotFound(w, r)
		return
	}
	var doc any = a.Machines[id]
	if a.Sheets {
		doc = a.Machines[id].Sheet()
	}
	reply(w, doc)
}

func (a *API) missing(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Machine < 0 || o.Machine >= len(a.Machines) {
		http.Error(w, "bad order", http.StatusBadRequest)
		return
	}
	reply(w, a.Stock.Missing(a.Machines[o.Machine], o.Count))
}

func reply(w http.ResponseWriter, doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
