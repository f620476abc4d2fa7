// Package session keeps what the portal remembers of its visitors.
package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Cookie is the name of the cookie with the number of a session.
const Cookie = "portal"

// A record is a session as it is stored.
type record struct {
	mu     sync.Mutex
	values map[string]string
	seen   time.Time
}

// A Session is that of one visitor. What is put into it is there for the next request.
type Session struct {
	rec  *record
	held bool // by the request
}

// Get returns a value.
func (s *Session) Get(key string) string {
	defer s.enter()()
	return s.rec.values[key]
}

// Update changes a value and returns the new one.
func (s *Session) Update(key string, f func(old string) string) string {
	defer s.enter()()
	s.rec.values[key] = f(s.rec.values[key])
	return s.rec.values[key]
}

func (s *Session) enter() (leave func()) {
	if s.held {
		return func() {}
	}
	s.rec.mu.Lock()
	return s.rec.mu.Unlock
}

// A Store has the sessions of all visitors.
type Store struct {
	mu       sync.RWMutex
	sessions map[string]*record
}

// NewStore returns a store without sessions.
func NewStore() *Store { return &Store{sessions: map[string]*record{}} }

// Len returns how many sessions there are.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.sessions)
}

// find returns the session of a request, or a new one.
func (s *Store) find(w http.ResponseWriter, r *http.Request) *record {
	if c, err := r.Cookie(Cookie); err == nil {
		s.mu.RLock()
		rec := s.sessions[c.Value]
		s.mu.RUnlock()
		if rec != nil {
			return rec
		}
	}
	rec, id := &record{values: map[string]string{}}, rand.Text()
	s.mu.Lock()
	s.sessions[id] = rec
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: Cookie, Value: id, Path: "/", HttpOnly: true})
	return rec
}

type key struct{}

// From returns the session of a request.
func From(ctx context.Context) *Session { return ctx.Value(key{}).(*Session) }

// Middleware gives each request its session, which is held for a request or for a value.
func Middleware(store *Store, mode string) (func(http.Handler) http.Handler, error) {
	if mode != "request" && mode != "value" {
		return nil, fmt.Errorf("session: a session cannot be held for a %s", mode)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := &Session{rec: store.find(w, r), held: mode == "request"}
			if s.held {
				s.rec.mu.Lock()
				defer s.rec.mu.Unlock()
			}
			s.touch()
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, s)))
		})
	}, nil
}

func (s *Session) touch() {
	defer s.enter()()
	s.rec.seen = time.Now()
}
