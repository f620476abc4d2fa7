// Package tickets keeps the newest tickets.
package tickets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"strings"
	"sync"
	"unicode"
)

// A Ticket is what a customer asked for.
type Ticket struct {
	Number   int      `json:"number"`
	Customer string   `json:"customer"`
	Subject  string   `json:"subject"`
	Print    string   `json:"print"`
	Topics   []string `json:"topics"`
}

// A Store keeps the newest tickets and counts their topics.
type Store struct {
	mu     sync.Mutex
	ring   []Ticket
	number int
	topics map[string]int
}

// NewStore returns a store that keeps n tickets.
func NewStore(n int) *Store {
	return &Store{ring: make([]Ticket, n), topics: map[string]int{}}
}

var known = map[string]string{
	"printer": "devices", "screen": "devices", "keyboard": "devices", "password": "accounts", "login": "accounts",
	"invoice": "billing", "payment": "billing", "network": "network", "wifi": "network", "vpn": "network",
}

// Add makes a ticket of a text.
func (s *Store) Add(customer string, text []byte) Ticket {
	subject, _, _ := bytes.Cut(text, []byte("\n"))
	sum := sha256.Sum256(text)
	t := Ticket{Customer: customer, Subject: string(subject), Print: hex.EncodeToString(sum[:8]), Topics: topics(text)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	t.Number = s.number
	old := &s.ring[t.Number%len(s.ring)]
	for _, topic := range old.Topics {
		s.topics[topic]--
	}
	for _, topic := range t.Topics {
		s.topics[topic]++
	}
	*old = t
	return t
}

// Topics returns how many of the newest tickets have a topic.
func (s *Store) Topics() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]int, len(s.topics))
	for topic, n := range s.topics {
		out[topic] = n
	}
	return out
}

// topics returns what a text is about.
func topics(text []byte) []string {
	seen := map[string]bool{}
	for _, word := range bytes.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if topic, ok := known[strings.ToLower(string(word))]; ok {
			seen[topic] = true
		}
	}
	out := make([]string, 0, len(seen))
	for topic := range seen {
		out = append(out, topic)
	}
	sort.Strings(out)
	return out
}
