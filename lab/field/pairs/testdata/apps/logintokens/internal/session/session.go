// Package session keeps sessions.
package session

import (
	"sync"
	"time"
)

// A Token names a session.
type Token string

// A Session is of one user.
type Session struct {
	User  string
	Until time.Time
}

// A Store has all sessions.
type Store struct {
	every time.Duration
	mu    sync.Mutex
	all   map[Token]Session
	swept time.Time
}

// NewStore makes one, which removes ended sessions so often.
func NewStore(every time.Duration) *Store {
	return &Store{every: every, all: map[Token]Session{}}
}

// Begin begins a session.
func (s *Store) Begin(user string, d time.Duration) Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := Token(user)
	s.all[t] = Session{user, time.Now().Add(d)}
	return t
}

func (s *Store) sweep(now time.Time) {
	if now.Sub(s.swept) < s.every {
		return
	}
	s.swept = now
	for t, one := range s.all {
		if now.After(one.Until) {
			delete(s.all, t)
		}
	}
}

// Get finds a session that has not ended.
func (s *Store) Get(t Token) (Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.sweep(now)
	one, ok := s.all[t]
	if ok && now.After(one.Until) {
		return Session{}, false
	}
	return one, ok
}
