// Package wire reads commands and writes replies of the kennel protocol.
package wire

import (
	"bufio"
	"bytes"
	"errors"
	"strconv"

	"kennelqueries/internal/registry"
)

// Command is one parsed line.
type Command struct {
	Verb   string
	Chip   uint64
	Kennel int
}

var errSyntax = errors.New("wire: bad command")

// ReadCommand reads the next line.
func ReadCommand(r *bufio.Reader) (Command, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return Command{}, err
	}
	f := bytes.Fields(line)
	if len(f) < 2 {
		return Command{}, errSyntax
	}
	c := Command{Verb: string(f[0])}
	if c.Chip, err = strconv.ParseUint(string(f[1]), 10, 64); err != nil {
		return Command{}, err
	}
	if len(f) > 2 {
		if c.Kennel, err = strconv.Atoi(string(f[2])); err != nil {
			return Command{}, err
		}
	}
	return c, nil
}

// Replies encodes answers for one connection.
type Replies struct {
	w   *bufio.Writer
	buf []byte
}

// NewReplies wraps w.
func NewReplies(w *bufio.Writer) *Replies {
	return &Replies{w: w}
}

// Animal writes a kennel card.
func (p *Replies) Animal(a *registry.Animal) error {
	b := append(p.buf[:0], "+"...)
	b = strconv.AppendUint(b, a.Chip, 10)
	b = append(b, ' ')
	b = append(b, a.Name...)
	b = append(b, ' ')
	b = append(b, a.Breed...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(a.Kennel), 10)
	b = append(b, ' ')
	b = a.Arrived.AppendFormat(b, "2006-01-02T15:04")
	b = append(b, ' ')
	b = strconv.AppendUint(b, a.Seal(), 16)
	b = append(b, '\n')
	p.buf = b
	_, err := p.w.Write(b)
	return err
}

// Status writes a one-word reply.
func (p *Replies) Status(ok bool) error {
	s := "+OK\n"
	if !ok {
		s = "-UNKNOWN\n"
	}
	_, err := p.w.WriteString(s)
	return err
}

// Flush sends what has been encoded.
func (p *Replies) Flush() error { return p.w.Flush() }
