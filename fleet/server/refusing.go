package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A refusing is whether the store keeps what comes. A full disk is one line in the log when
// it begins and one when it ends, and the server is not ready meanwhile.
type refusing struct {
	log *slog.Logger
	now func() time.Time

	mu          sync.Mutex
	since, last time.Time // the first and the last failure; zero while all is kept
	refused     int
}

// hopeless is how long after its last failure the store is taken for ready again: nothing is
// sent to a server that is not, so that only what is sent then can tell.
const hopeless = 30 * time.Second

// saw notes how a write ended.
func (r *refusing) saw(err error) {
	if r.log == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, store.ErrRefused) || errors.Is(err, store.ErrClosed) ||
		err == store.ErrFull { // without a cause it is for the moment
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil && !r.since.IsZero():
		r.log.Info("the store keeps what is sent again", "after", r.now().Sub(r.since).Round(time.Second), "refused", r.refused)
		r.since, r.last, r.refused = time.Time{}, time.Time{}, 0
	case err != nil && r.since.IsZero():
		r.log.Error("the store refuses what is sent, and is not ready until it does not", "err", err)
		r.since = r.now()
		fallthrough
	case err != nil:
		r.last = r.now()
		r.refused++
	}
}

// ready answers whether profiles can be sent.
func (r *refusing) ready(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	no := !r.since.IsZero() && r.now().Sub(r.last) < hopeless
	r.mu.Unlock()
	if no {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "no: the store refuses what is sent, and the server's log says why\n")
		return
	}
	io.WriteString(w, "ok\n")
}
