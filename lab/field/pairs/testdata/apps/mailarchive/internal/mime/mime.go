// Package mime splits messages into header fields and text.
package mime

import (
	"errors"
	"strings"
)

type Message struct {
	ID, From, To, Subject string
	References            string
	Text                  string
}

var ErrHeader = errors.New("mime: malformed header")

func Parse(data []byte) (*Message, error) {
	raw := string(data)
	head, text, ok := strings.Cut(raw, "\r\n\r\n")
	if !ok {
		return nil, ErrHeader
	}
	m := &Message{Text: text}
	for line := range strings.SplitSeq(head, "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, ErrHeader
		}
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(name, "Message-ID"):
			m.ID = strings.Trim(value, "<>")
		case strings.EqualFold(name, "From"):
			m.From = value
		case strings.EqualFold(name, "To"):
			m.To = value
		case strings.EqualFold(name, "Subject"):
			m.Subject = value
		case strings.EqualFold(name, "References"):
			m.References = strings.Trim(value, "<>")
		}
	}
	return m, nil
}
