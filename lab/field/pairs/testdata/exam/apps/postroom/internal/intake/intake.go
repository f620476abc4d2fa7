// Package intake is the server that mails are handed in at.
package intake

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"postroom/internal/spool"
	"postroom/internal/wire"
)

// Options say how connections are read.
type Options struct {
	Chunk    int
	Lookback int
}

// A Server puts mails into a spool.
type Server struct {
	spool *spool.Spool
	opt   Options
}

// New makes a server.
func New(s *spool.Spool, opt Options) *Server { return &Server{s, opt} }

// Serve takes connections until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.session(c)
	}
}

// session talks to one sender, who may hand in several mails.
func (s *Server) session(nc net.Conn) {
	defer nc.Close()
	c := wire.NewConn(nc, s.opt.Chunk)
	c.Lookback = s.opt.Lookback
	if c.Reply(220, "postroom") != nil {
		return
	}
	var from, to string
	for {
		line, err := c.Line()
		if err != nil {
			return
		}
		verb, arg, _ := strings.Cut(line, " ")
		code, text := 250, "ok"
		switch strings.ToUpper(verb) {
		case "HELO":
		case "MAIL":
			from = arg
		case "RCPT":
			to = arg
		case "DATA":
			if code, text, err = s.take(c, from, to); err != nil {
				return
			}
		case "QUIT":
			_ = c.Reply(221, "bye")
			return
		default:
			code, text = 500, "what?"
		}
		if c.Reply(code, text) != nil {
			return
		}
	}
}

// take reads a mail and spools it.
func (s *Server) take(c *wire.Conn, from, to string) (int, string, error) {
	if from == "" || to == "" {
		return 503, "from whom, to whom?", nil
	}
	if err := c.Reply(354, "go on"); err != nil {
		return 0, "", err
	}
	body, err := c.Body()
	if errors.Is(err, wire.ErrTooLarge) {
		_ = c.Reply(552, "too large")
	}
	if err != nil {
		return 0, "", err
	}
	n, err := s.spool.Add(from, to, body)
	if err != nil {
		return 554, err.Error(), nil
	}
	return 250, fmt.Sprintf("is number %d", n), nil
}
