// Package serve answers requests for chapters.
package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"

	"handbook/internal/chapters"
)

// A Handler serves a shelf.
type Handler struct {
	Shelf *chapters.Shelf
	Kept  bool

	tags sync.Map // of chapters, by their pointers
}

type rendered struct {
	body []byte
	tag  string
}

func render(c *chapters.Chapter) (*rendered, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &rendered{body, `"` + hex.EncodeToString(sum[:12]) + `"`}, nil
}

func (h *Handler) rendered(c *chapters.Chapter) (*rendered, error) {
	if !h.Kept {
		return render(c)
	}
	if r, ok := h.tags.Load(c); ok {
		return r.(*rendered), nil
	}
	r, err := render(c)
	if err == nil {
		h.tags.Store(c, r)
	}
	return r, err
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := h.Shelf.Get(r.PathValue("chapter"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	page, err := h.rendered(c)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("ETag", page.tag)
	w.Header().Set("Cache-Control", "no-cache")
	if r.Header.Get("If-None-Match") == page.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(page.body)
}
