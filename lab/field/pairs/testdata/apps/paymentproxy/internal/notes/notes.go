// Package notes keeps the requests that failed, for those who look into them.
package notes

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"sync"
)

// A Keeper keeps notes of what failed.
type Keeper struct {
	Eager bool
	mu    sync.Mutex
	last  [100]string
	n     int
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (k *Keeper) keep(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last[k.n%len(k.last)] = text
	k.n++
}

// note is a request as text, with its body.
func note(r *http.Request) string {
	text, err := httputil.DumpRequest(r, true)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Wrap puts the keeper before a handler.
func (k *Keeper) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{w, http.StatusOK}
		if k.Eager {
			text := note(r)
			next.ServeHTTP(rec, r)
			if rec.status >= 400 {
				k.keep(text)
			}
			return
		}
		var body bytes.Buffer
		r.Body = io.NopCloser(io.TeeReader(r.Body, &body))
		next.ServeHTTP(rec, r)
		if rec.status >= 400 {
			r.Body = io.NopCloser(&body)
			k.keep(note(r))
		}
	})
}
