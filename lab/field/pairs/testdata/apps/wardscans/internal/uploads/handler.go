// Package uploads takes pages over HTTP.
package uploads

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"wardscans/internal/scans"
)

// Options of the handler.
type Options struct {
	V2    bool
	Limit int64
}

// Handler files uploaded pages.
type Handler struct {
	base    context.Context
	archive *scans.Archive
	opts    Options
	dups    atomic.Int64
}

func NewHandler(base context.Context, archive *scans.Archive, opts Options) *Handler {
	return &Handler{base: base, archive: archive, opts: opts}
}

func (h *Handler) Duplicates() int64 { return h.dups.Load() }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength <= 0 || r.ContentLength > h.opts.Limit {
		http.Error(w, errTooLarge.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()

	t := newTransfer(r.PathValue("office"), int(r.ContentLength)+1)
	stop := context.AfterFunc(h.base, t.discard)
	if h.opts.V2 {
		defer stop()
	}
	if err := t.receive(ctx, r.Body); err != nil {
		code := http.StatusBadRequest
		if errors.Is(err, errStopped) {
			code = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), code)
		return
	}
	page := scans.Page{Office: t.office, Size: t.n, Ink: t.ink()}
	t.sum.Sum(page.Sum[:0])
	if !h.archive.File(page) {
		h.dups.Add(1)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"sum": page.Sum[:], "size": page.Size, "ink": page.Ink})
}
