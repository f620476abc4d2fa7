// Package boxoffice is the gateway in front of the cinemas' box offices.
package boxoffice

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

type Seats struct {
	Venue string `json:"venue"`
	Show  int    `json:"show"`
	Taken []int  `json:"taken"`
}

type Gateway struct {
	Addr  string
	srv   *http.Server
	Calls atomic.Int64
}

func Start() (*Gateway, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gateway{Addr: l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /shows/{show}", g.show)
	g.srv = &http.Server{Handler: mux}
	go g.srv.Serve(l)
	return g, nil
}

func (g *Gateway) Close() { g.srv.Close() }

func (g *Gateway) show(w http.ResponseWriter, r *http.Request) {
	g.Calls.Add(1)
	name, _, ok := strings.Cut(r.Host, ".")
	n, err := strconv.Atoi(r.PathValue("show"))
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	s := Seats{Venue: name, Show: n}
	h := uint32(n)*2654435761 + uint32(len(name))
	for i := range 120 {
		h ^= h << 13
		h ^= h >> 17
		h ^= h << 5
		s.Taken = append(s.Taken, int(h>>8)%(260+i))
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s)
}
