// Package link carries frames over a line: a length, a verb, and a body.
package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The verbs.
const (
	Read byte = iota + 1
	Value
	Nak
)

// Reasons of a Nak.
const (
	Busy    byte = 1 // the meter did not answer in its turn
	Unknown byte = 2 // the meter is not in the register
)

// A NakError is a refusal of the other side.
type NakError struct{ Reason byte }

func (e *NakError) Error() string { return fmt.Sprintf("nak %d", e.Reason) }

// Temporary reports whether the same question may be answered later.
func (e *NakError) Temporary() bool { return e.Reason == Busy }

// ErrFrame says that something is no frame.
var ErrFrame = errors.New("link: frame")

// A Line is a connection to a head-end.
type Line struct {
	c       net.Conn
	in      *bufio.Reader
	out     []byte
	Timeout time.Duration
}

// Dial opens a line.
func Dial(addr string) (*Line, error) {
	c, err := net.DialTimeout("tcp", addr, 3*time.Second)
	if err != nil {
		return nil, err
	}
	return &Line{c: c, in: bufio.NewReader(c), Timeout: 2 * time.Second}, nil
}

// Close closes the line.
func (l *Line) Close() error { return l.c.Close() }

// Ask sends a frame and returns the body of the answer.
func (l *Line) Ask(verb byte, body []byte) ([]byte, error) {
	if err := l.c.SetDeadline(time.Now().Add(l.Timeout)); err != nil {
		return nil, err
	}
	l.out = Append(l.out[:0], verb, body)
	if _, err := l.c.Write(l.out); err != nil {
		return nil, err
	}
	verb, answer, err := Next(l.in)
	if err != nil {
		return nil, err
	}
	if verb == Nak && len(answer) == 1 {
		return nil, &NakError{answer[0]}
	}
	return answer, nil
}

// Append adds a frame to a buffer.
func Append(to []byte, verb byte, body []byte) []byte {
	to = binary.BigEndian.AppendUint16(to, uint16(len(body)+1))
	to = append(to, verb)
	return append(to, body...)
}

// Next reads a frame.
func Next(r *bufio.Reader) (verb byte, body []byte, err error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint16(size[:])
	if n == 0 || n > 1024 {
		return 0, nil, ErrFrame
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return body[0], body[1:], nil
}
