// Package services knows how services are.
package services

import (
	"fmt"
	"net/http"
	"time"
)

// A Page shows services.
type Page struct{ since []time.Time }

// NewPage shows so many.
func NewPage(n int) *Page {
	p := &Page{}
	for i := range n {
		p.since = append(p.since, time.Now().Add(-time.Duration(i)*time.Hour))
	}
	return p
}

func (p *Page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	for i, t := range p.since {
		fmt.Fprintf(w, "service %d: up for %s\n", i, time.Since(t).Round(time.Minute))
	}
}
