// Package api serves threads to clients.
package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"threadview/internal/forum"
)

// API answers for a store.
type API struct {
	store *forum.Store
	views bool
}

// New returns the handler of the API.
func New(store *forum.Store, views bool) http.Handler {
	a := &API{store: store, views: views}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /threads/{slug}", a.thread)
	return mux
}

func (a *API) thread(w http.ResponseWriter, r *http.Request) {
	t := a.store.Get(r.PathValue("slug"))
	if t == nil {
		http.NotFound(w, r)
		return
	}
	body, err := a.encode(t)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sum := sha256.Sum256(body)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func (a *API) encode(t *forum.Thread) ([]byte, error) {
	if !a.views {
		return json.Marshal(t)
	}
	return json.Marshal(struct {
		Slug  string     `json:"slug"`
		Title string     `json:"title"`
		Root  forum.View `json:"root"`
	}{t.Slug, t.Title, t.Root.View()})
}
