// Package hotel has the rates of rooms and the server that gives them out.
package hotel

import (
	"encoding/json"
	"hash/maphash"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Rate is the price of a room for a night.
type Rate struct {
	Room  string `json:"room"`
	Cents int    `json:"cents"`
	Meals string `json:"meals"`
	Left  int    `json:"left"`
}

var (
	rooms = []string{"single", "twin", "double", "suite", "family", "studio"}
	meals = []string{"none", "breakfast", "half board", "full board"}
	seed  = maphash.MakeSeed()
)

// Server is one of the machines that answer /rates.
type Server struct {
	Addr     string
	Accepted atomic.Int64
	Answered atomic.Int64
}

// Serve starts a server on a free port.
func Serve() (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: ln.Addr().String()}
	srv := &http.Server{Handler: s, ConnState: func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.Accepted.Add(1)
		}
	}}
	go srv.Serve(ln)
	return s, nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// reading the inventory: mostly quick, at times not
	d := 2*time.Millisecond + time.Duration(rand.ExpFloat64()*float64(700*time.Microsecond))
	if rand.IntN(60) == 0 {
		d += 15 * time.Millisecond
	}
	select {
	case <-time.After(d):
	case <-r.Context().Done():
		return
	}
	h := maphash.String(seed, r.URL.RawQuery)
	out := make([]Rate, 24)
	for i := range out {
		h = h*6364136223846793005 + 1442695040888963407
		out[i] = Rate{rooms[h>>33%6], 4000 + int(h>>40%30000), meals[h>>37%4], int(h >> 50 % 9)}
	}
	s.Answered.Add(1)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}
