// Package intake parses the messages of the customers.
package intake

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Message is a short message.
type Message struct {
	ID, From, To, Text string
}

var (
	// ErrNumber says that a number is none.
	ErrNumber = errors.New("intake: no number")
	// ErrFields says that a line has too few fields.
	ErrFields = errors.New("intake: too few fields")
)

var plain = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "")

// Parse reads a message.
func Parse(line []byte) (*Message, error) {
	f := strings.SplitN(string(line), "|", 4)
	if len(f) < 4 {
		return nil, ErrFields
	}
	m := &Message{ID: strings.Clone(f[0]), From: f[1], To: plain.Replace(f[2]), Text: f[3]}
	if len(m.To) < 8 || m.To[0] != '+' {
		return nil, ErrNumber
	}
	return m, nil
}

// Parts returns how many parts a text is sent in.
func Parts(text string) int {
	n, limit := utf8.RuneCountInString(text), 160
	for _, r := range text {
		if r > 0xff {
			limit = 70
			break
		}
	}
	return (n + limit - 1) / limit
}
