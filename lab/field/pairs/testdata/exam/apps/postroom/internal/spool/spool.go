// Package spool keeps mails and knows what is attached to them.
package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
)

// A Mail is what was handed in.
type Mail struct {
	From, To string
	Subject  string
	Parts    []Part
}

// A Part is something attached.
type Part struct {
	Name   string
	Bytes  int
	Digest [sha256.Size]byte
}

// A Spool keeps the last mails.
type Spool struct {
	mu           sync.Mutex
	last         []*Mail
	mails, parts int
	bytes        int
}

// New keeps n mails.
func New(n int) *Spool { return &Spool{last: make([]*Mail, n)} }

// Add reads a mail and keeps what it is about; it returns the mail's number.
func (s *Spool) Add(from, to string, body []byte) (int, error) {
	m, err := parse(body)
	if err != nil {
		return 0, err
	}
	m.From, m.To = from, to
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[s.mails%len(s.last)] = m
	s.mails++
	s.parts += len(m.Parts)
	for _, p := range m.Parts {
		s.bytes += p.Bytes
	}
	return s.mails, nil
}

// Totals are the numbers of mails and attachments, and the attachments' size.
func (s *Spool) Totals() (mails, parts, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails, s.parts, s.bytes
}

// parse takes a mail apart: a subject, and after each "Attachment:" lines of base64.
func parse(body []byte) (*Mail, error) {
	head, rest, ok := bytes.Cut(body, []byte("\r\n\r\n"))
	if !ok {
		return nil, fmt.Errorf("spool: a mail without a body")
	}
	m := &Mail{}
	for line := range strings.SplitSeq(string(head), "\r\n") {
		if key, value, _ := strings.Cut(line, ":"); strings.EqualFold(key, "Subject") {
			m.Subject = strings.TrimSpace(value)
		}
	}
	mark := []byte("Attachment: ")
	_, rest, _ = bytes.Cut(rest, mark)
	for len(rest) > 0 {
		var part []byte
		part, rest, _ = bytes.Cut(rest, mark)
		name, lines, _ := bytes.Cut(part, []byte("\r\n"))
		data := make([]byte, base64.StdEncoding.DecodedLen(len(lines)))
		n, err := base64.StdEncoding.Decode(data, lines)
		if err != nil {
			return nil, fmt.Errorf("spool: attachment %s: %w", name, err)
		}
		m.Parts = append(m.Parts, Part{Name: string(name), Bytes: n, Digest: sha256.Sum256(data[:n])})
	}
	return m, nil
}
