// Package wire reads and writes the lines and the bodies of the mail protocol.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// ErrTooLarge says that a mail is larger than allowed.
var ErrTooLarge = errors.New("wire: mail too large")

var (
	eol = []byte("\r\n")
	end = []byte("\r\n.\r\n")
)

// A Conn is a connection of a sender.
type Conn struct {
	c        net.Conn
	in       []byte // was read and not consumed
	chunk    []byte
	Lookback int // how far before a chunk the end of a body may begin; 0 is everywhere
	Limit    int // of a body
	Patience time.Duration
}

// NewConn reads from c in chunks of the given size.
func NewConn(c net.Conn, chunk int) *Conn {
	return &Conn{c: c, chunk: make([]byte, chunk), Limit: 16 << 20, Patience: 30 * time.Second}
}

// more appends what comes next to the input.
func (c *Conn) more() error {
	if err := c.c.SetReadDeadline(time.Now().Add(c.Patience)); err != nil {
		return err
	}
	n, err := c.c.Read(c.chunk)
	c.in = append(c.in, c.chunk[:n]...)
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// Line returns the next line without its end.
func (c *Conn) Line() (string, error) {
	for {
		if i := bytes.Index(c.in, eol); i >= 0 {
			line := string(c.in[:i])
			c.in = c.in[i+len(eol):]
			return line, nil
		}
		if err := c.more(); err != nil {
			return "", err
		}
	}
}

// from is where in the input the end of a body is to be looked for, when what came
// before the position was there already.
func (c *Conn) from(seen int) int {
	if c.Lookback == 0 {
		return 0
	}
	return max(0, seen-c.Lookback)
}

// Body returns a body up to the line with a single dot, with the dots of its lines undone.
func (c *Conn) Body() ([]byte, error) {
	seen := 0
	for {
		start := c.from(seen)
		if i := bytes.Index(c.in[start:], end); i >= 0 {
			i += start
			body := undot(c.in[:i+len(eol)])
			c.in = bytes.Clone(c.in[i+len(end):])
			return body, nil
		}
		if seen = len(c.in); seen > c.Limit {
			return nil, ErrTooLarge
		}
		if err := c.more(); err != nil {
			return nil, err
		}
	}
}

// undot removes the first of the dots that a line of a body begins with.
func undot(body []byte) []byte {
	if !bytes.Contains(body, []byte("\n.")) {
		return bytes.Clone(body)
	}
	return bytes.ReplaceAll(body, []byte("\n.."), []byte("\n."))
}

// Reply writes an answer.
func (c *Conn) Reply(code int, text string) error {
	_, err := fmt.Fprintf(c.c, "%d %s\r\n", code, text)
	return err
}
