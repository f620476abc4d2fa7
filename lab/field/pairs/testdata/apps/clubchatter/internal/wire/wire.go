// Package wire is what goes to and comes from the members' apps.
package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html"
	"strings"
	"time"
	"unicode"
)

// Post is what a member sends.
type Post struct {
	Room string `json:"room"`
	From string `json:"from"`
	Text string `json:"text"`
}

// Message is what members get.
type Message struct {
	ID       string    `json:"id"`
	Seq      uint64    `json:"seq"`
	From     string    `json:"from"`
	Body     string    `json:"body"`
	Mentions []string  `json:"mentions,omitempty"`
	You      bool      `json:"you"`
	At       time.Time `json:"at"`
}

// Parse reads a post.
func Parse(raw []byte) (Post, error) {
	var p Post
	err := json.Unmarshal(raw, &p)
	return p, err
}

// Build makes a message of a post.
func Build(p Post, seq uint64, at time.Time) Message {
	h := sha256.New()
	h.Write([]byte(p.Room))
	h.Write([]byte(p.From))
	h.Write(binary.BigEndian.AppendUint64(nil, seq))
	h.Write([]byte(p.Text))
	m := Message{
		ID:   base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12]),
		Seq:  seq,
		From: p.From,
		Body: html.EscapeString(p.Text),
		At:   at,
	}
	for w := range strings.FieldsFuncSeq(p.Text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' }) {
		if len(w) > 1 && w[0] == '@' {
			m.Mentions = append(m.Mentions, w[1:])
		}
	}
	return m
}

// Encode makes the frame of one member.
func Encode(m Message, member string) ([]byte, error) {
	for _, n := range m.Mentions {
		if n == member {
			m.You = true
		}
	}
	return json.Marshal(m)
}
