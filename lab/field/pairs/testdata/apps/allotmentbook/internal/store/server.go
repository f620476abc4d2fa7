package store

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Server keeps the register of plots.
type Server struct {
	mu   sync.Mutex
	rows map[string]string
}

// NewServer returns a server with n plots.
func NewServer(n int) *Server {
	s := &Server{rows: map[string]string{}}
	for i := range n {
		s.rows[fmt.Sprintf("plot-%04d", i)] = fmt.Sprintf("tenant-%04d 2026 %d", i*7%n, 60+i%90)
	}
	return s
}

// Serve accepts clients until the listener is closed.
func (s *Server) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go s.session(conn)
	}
}

func (s *Server) session(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		cmd, rest, _ := strings.Cut(in.Text(), " ")
		key, val, _ := strings.Cut(rest, " ")
		reply := "ok"
		s.mu.Lock()
		switch cmd {
		case "get":
			reply = s.rows[key]
		case "set":
			s.rows[key] = val
		}
		s.mu.Unlock()
		if cmd == "commit" {
			time.Sleep(300 * time.Microsecond)
		}
		if _, err := conn.Write([]byte(reply + "\n")); err != nil {
			return
		}
	}
}
