// Package auth checks the keys of partners.
package auth

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

type record struct {
	salt, derived []byte
}

// A Guard knows derived keys, never the keys.
type Guard struct {
	rounds   int
	believed time.Duration
	mu       sync.RWMutex
	partners map[string]record
	proofs   map[[32]byte]time.Time // of keys that were right, until when
	pepper   []byte
}

// NewGuard derives keys in a number of rounds and believes for a time what was right.
func NewGuard(rounds int, believed time.Duration) *Guard {
	g := &Guard{rounds: rounds, believed: believed, partners: map[string]record{}, proofs: map[[32]byte]time.Time{}, pepper: make([]byte, 32)}
	_, _ = rand.Read(g.pepper)
	return g
}

// Add adds a partner.
func (g *Guard) Add(name, key string) error {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt)
	d, err := g.derive(key, salt)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.partners[name] = record{salt, d}
	return nil
}

func (g *Guard) derive(key string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, key, salt, g.rounds, 32)
}

// proof is what a right name and key are remembered by.
func (g *Guard) proof(name, key string) (out [32]byte) {
	h := hmac.New(sha256.New, g.pepper)
	h.Write([]byte(name + "\x00" + key))
	h.Sum(out[:0])
	return out
}

// Check reports whether a key is right.
func (g *Guard) Check(name, key string) bool {
	p := g.proof(name, key)
	g.mu.RLock()
	r, ok := g.partners[name]
	until := g.proofs[p]
	g.mu.RUnlock()
	if !ok {
		return false
	}
	if time.Now().Before(until) {
		return true
	}
	d, err := g.derive(key, r.salt)
	if err != nil || !hmac.Equal(d, r.derived) {
		return false
	}
	if g.believed > 0 {
		g.mu.Lock()
		g.proofs[p] = time.Now().Add(g.believed)
		g.mu.Unlock()
	}
	return true
}

// Protect lets those through whose key is right.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, key, ok := r.BasicAuth()
		if !ok || !g.Check(name, key) {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
