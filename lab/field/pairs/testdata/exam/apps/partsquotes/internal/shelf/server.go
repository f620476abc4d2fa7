// Package shelf is a server of short values with a protocol of lines, and its client.
package shelf

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

const maxValue = 1 << 16

// A Server keeps values in memory.
type Server struct {
	mu     sync.RWMutex
	values map[string][]byte
}

// NewServer makes an empty one.
func NewServer() *Server { return &Server{values: map[string][]byte{}} }

// Serve takes connections until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.converse(c)
	}
}

func (s *Server) converse(c net.Conn) {
	defer c.Close()
	r, w := bufio.NewReader(c), bufio.NewWriter(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if err := s.command(strings.Fields(line), r, w); err != nil {
			return
		}
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

func (s *Server) command(words []string, r io.Reader, w io.Writer) error {
	switch {
	case len(words) == 2 && words[0] == "get":
		s.mu.RLock()
		value, ok := s.values[words[1]]
		s.mu.RUnlock()
		if !ok {
			_, err := io.WriteString(w, "absent\n")
			return err
		}
		fmt.Fprintf(w, "value %d\n", len(value))
		_, err := w.Write(value)
		return err
	case len(words) == 3 && words[0] == "set":
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 || size > maxValue {
			return ErrReply
		}
		value := make([]byte, size)
		if _, err := io.ReadFull(r, value); err != nil {
			return err
		}
		s.mu.Lock()
		s.values[words[1]] = value
		s.mu.Unlock()
		_, err = io.WriteString(w, "stored\n")
		return err
	}
	_, err := io.WriteString(w, "what?\n")
	return err
}
