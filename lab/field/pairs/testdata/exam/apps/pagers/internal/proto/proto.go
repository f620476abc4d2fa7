// Package proto is what pagers and the exchange say to each other, in lines.
package proto

import (
	"errors"
	"strconv"
	"strings"
)

// A Message is a line: HERE number, CALL id text, ACK id or ALIVE.
type Message struct {
	Verb string
	ID   int
	Text string
}

// ErrFormat says that a line is no message.
var ErrFormat = errors.New("proto: format")

// Append adds a message as a line.
func (m Message) Append(to []byte) []byte {
	to = append(to, m.Verb...)
	to = append(to, ' ')
	to = strconv.AppendInt(to, int64(m.ID), 10)
	if m.Text != "" {
		to = append(to, ' ')
		to = append(to, m.Text...)
	}
	return append(to, '\n')
}

// Parse reads a line.
func Parse(line string) (m Message, err error) {
	verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	id, text, _ := strings.Cut(rest, " ")
	m.Verb, m.Text = verb, text
	if m.ID, err = strconv.Atoi(id); err != nil {
		return m, ErrFormat
	}
	switch verb {
	case "HERE", "CALL", "ACK", "ALIVE":
		return m, nil
	}
	return m, ErrFormat
}
