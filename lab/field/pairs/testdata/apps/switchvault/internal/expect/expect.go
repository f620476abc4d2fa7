// Package expect talks to a console: it sends a line and waits for the prompt.
package expect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
)

var prompt = regexp.MustCompile(`(?m)^[\w.-]+[>#] ?$`)

// Session is a console with a prompt.
type Session struct {
	conn  net.Conn
	chunk []byte
	v2    bool
	Read  int64
}

// Attach waits for the first prompt of the console.
func Attach(conn net.Conn, v2 bool) (*Session, error) {
	s := &Session{conn: conn, chunk: make([]byte, 1024), v2: v2}
	_, err := s.until()
	return s, err
}

// Do sends a command and returns what it printed.
func (s *Session) Do(command string) ([]byte, error) {
	if _, err := fmt.Fprintf(s.conn, "%s\n", command); err != nil {
		return nil, err
	}
	out, err := s.until()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	return out, nil
}

// until reads up to the next prompt and returns what came before it.
func (s *Session) until() ([]byte, error) {
	var out []byte
	for {
		n, err := s.conn.Read(s.chunk)
		s.Read += int64(n)
		out = append(out, s.chunk[:n]...)
		if at := s.find(out); at >= 0 {
			return out[:at], nil
		}
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *Session) find(out []byte) int {
	from := 0
	if s.v2 {
		from = bytes.LastIndexByte(out, '\n') + 1
	}
	if m := prompt.FindIndex(out[from:]); m != nil {
		return from + m[0]
	}
	return -1
}

// Close leaves the console.
func (s *Session) Close() error {
	fmt.Fprint(s.conn, "exit\n")
	return s.conn.Close()
}
