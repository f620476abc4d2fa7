// Package gate refuses requests that come too often.
package gate

import (
	"net"
	"net/http"
)

// A Limiter decides.
type Limiter interface{ Allow(name string) bool }

// A Gate has a limiter.
type Gate struct {
	make func() Limiter
	each bool
	all  Limiter
}

// New makes a gate.
func New(make func() Limiter, each bool) *Gate {
	return &Gate{make: make, each: each, all: make()}
}

func (g *Gate) limiter() Limiter {
	if g.each {
		return g.make()
	}
	return g.all
}

// Wrap puts the gate before a handler.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil || !g.limiter().Allow(client) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "later", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}
