// Package linedb is a small key-value database with a line protocol and its database/sql driver.
package linedb

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Server is the database.
type Server struct {
	mu   sync.Mutex
	rows map[string]string
}

// Serve answers connections until the listener is closed.
func (s *Server) Serve(ln net.Listener) {
	s.rows = map[string]string{}
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go s.talk(c)
	}
}

func (s *Server) talk(c net.Conn) {
	defer c.Close()
	in := bufio.NewScanner(c)
	for in.Scan() {
		f := strings.SplitN(in.Text(), " ", 3)
		answer := "ok"
		switch {
		case f[0] == "get" && len(f) == 2:
			s.mu.Lock()
			answer = "ok " + s.rows[f[1]]
			s.mu.Unlock()
		case f[0] == "put" && len(f) == 3:
			s.mu.Lock()
			s.rows[f[1]] = f[2]
			s.mu.Unlock()
		case f[0] == "commit":
			time.Sleep(time.Millisecond)
		}
		if _, err := fmt.Fprintln(c, answer); err != nil {
			return
		}
	}
}
