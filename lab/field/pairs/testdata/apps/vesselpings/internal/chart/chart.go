// Package chart plays the chart service.
package chart

import (
	"encoding/json"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Service draws what it gets.
type Service struct {
	Addr  string
	pause time.Duration
	Drawn atomic.Int64
}

// Start starts the service; the pause is what its database takes.
func Start(pause time.Duration) (*Service, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Service{Addr: ln.Addr().String(), pause: pause}
	go http.Serve(ln, http.HandlerFunc(s.draw))
	return s, nil
}

func (s *Service) draw(w http.ResponseWriter, r *http.Request) {
	var list []struct {
		Vessel   int
		Lat, Lon float64
	}
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(s.pause)
	s.Drawn.Add(int64(len(list)))
}
