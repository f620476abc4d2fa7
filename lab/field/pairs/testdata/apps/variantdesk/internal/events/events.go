// Package events signs and counts exposures.
package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"sync"

	"variantdesk/internal/trials"
)

// Exposure says what a visitor was shown.
type Exposure struct {
	Visitor string             `json:"visitor"`
	Page    string             `json:"page"`
	Seen    []trials.Placement `json:"seen"`
}

// Sink gathers exposures.
type Sink struct {
	key   []byte
	mu    sync.Mutex
	byArm map[trials.Placement]int
	total int
}

// NewSink returns a sink that signs with key.
func NewSink(key []byte) *Sink {
	return &Sink{key: key, byArm: map[trials.Placement]int{}}
}

// Add counts an exposure and returns the token by which conversions refer to it.
func (s *Sink) Add(e Exposure) (string, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, s.key)
	m.Write(body)
	token := base64.RawURLEncoding.EncodeToString(m.Sum(nil))
	s.mu.Lock()
	for _, p := range e.Seen {
		s.byArm[p]++
	}
	s.total++
	s.mu.Unlock()
	return token, nil
}

// Totals returns the exposures and the number of arms that were seen.
func (s *Sink) Totals() (int, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total, len(s.byArm)
}
