// Package origin stands for the server, which serves so many a second.
package origin

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// A Server lets so many through.
type Server struct {
	rate  int
	mu    sync.Mutex
	start time.Time
	given int
	asked int
}

// New makes a server.
func New(rate int) *Server { return &Server{rate: rate, start: time.Now()} }

func (s *Server) allow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.given >= int(time.Since(s.start).Seconds()*float64(s.rate)) {
		return false
	}
	s.given++
	return true
}

// Asked is how often it was asked.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.allow() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "<feed>%s</feed>", r.URL.Path)
}
