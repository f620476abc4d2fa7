// Package registry is a stand-in for the registry of objects.
package registry

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

type Server struct {
	ln   net.Listener
	data map[string][]byte
}

type object struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Maker    string   `json:"maker"`
	Year     int      `json:"year"`
	Euro     int      `json:"euro"`
	SizeMM   [3]int   `json:"size_mm"`
	Material []string `json:"material"`
}

func Listen(objects, exhibitions int) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{ln: ln, data: map[string][]byte{}}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range objects {
		o := object{
			ID: fmt.Sprintf("obj:%d", i), Title: fmt.Sprintf("Landscape with %d trees", i), Maker: fmt.Sprintf("Master %d", r.IntN(300)),
			Year: 1400 + r.IntN(550), Euro: 1000 + r.IntN(4e6), SizeMM: [3]int{200 + r.IntN(2000), 200 + r.IntN(2000), 40},
			Material: []string{"oil", "oak panel", "gilt frame"}[:1+r.IntN(3)],
		}
		s.data[o.ID], _ = json.Marshal(o)
	}
	for i := range exhibitions {
		var ids []string
		for range 8 + r.IntN(8) {
			ids = append(ids, fmt.Sprintf("obj:%d", r.IntN(objects)))
		}
		s.data[fmt.Sprintf("exh:%d", i)], _ = json.Marshal(map[string]any{"title": fmt.Sprintf("Exhibition %d", i), "days": 30 + r.IntN(100), "objects": ids})
	}
	go s.accept()
	return s, nil
}

func (s *Server) Addr() string { return s.ln.Addr().String() }
func (s *Server) Close() error { return s.ln.Close() }

func (s *Server) accept() {
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			return
		}
		go s.serve(nc)
	}
}

func (s *Server) serve(nc net.Conn) {
	defer nc.Close()
	r, w := bufio.NewReader(nc), bufio.NewWriter(nc)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		f := strings.Fields(line)
		keys := f[1:]
		time.Sleep(900*time.Microsecond + time.Duration(len(keys))*20*time.Microsecond)
		fmt.Fprintf(w, "*%d\n", len(keys))
		for _, k := range keys {
			w.Write(s.data[k])
			w.WriteByte('\n')
		}
		if w.Flush() != nil {
			return
		}
	}
}
