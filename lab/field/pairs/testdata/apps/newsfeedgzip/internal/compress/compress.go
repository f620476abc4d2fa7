// Package compress compresses responses.
package compress

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// A Middleware compresses what handlers write.
type Middleware struct {
	Recycle bool
	pool    sync.Pool
}

type responseWriter struct {
	http.ResponseWriter
	body io.Writer
}

func (w *responseWriter) Write(b []byte) (int, error) { return w.body.Write(b) }

func (m *Middleware) writer(w io.Writer) *gzip.Writer {
	if m.Recycle {
		if z, ok := m.pool.Get().(*gzip.Writer); ok {
			z.Reset(w)
			return z
		}
	}
	return gzip.NewWriter(w)
}

func (m *Middleware) finish(z *gzip.Writer) {
	_ = z.Close() // the client is gone, then
	if m.Recycle {
		m.pool.Put(z)
	}
}

// Wrap puts the middleware before a handler.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
		z := m.writer(w)
		defer m.finish(z)
		next.ServeHTTP(&responseWriter{w, z}, r)
	})
}
