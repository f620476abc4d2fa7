// Package replica is a mirror of all sessions.
package replica

import (
	"errors"
	"io"
	"sync"

	"lobbymirror/internal/session"
	"lobbymirror/internal/wire"
)

// Mirror holds copies of sessions.
type Mirror struct {
	mu              sync.Mutex
	sessions        map[string]*session.Session
	applied, differ int64
}

// New returns an empty mirror.
func New() *Mirror { return &Mirror{sessions: make(map[string]*session.Session)} }

// Follow applies updates from a link until it ends.
func (m *Mirror) Follow(l *wire.Link) error {
	for {
		var u wire.Update
		if err := l.Recv(&u); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		m.apply(&u)
	}
}

func (m *Mirror) apply(u *wire.Update) {
	same := u.Session.Digest() == u.Digest
	m.mu.Lock()
	defer m.mu.Unlock()
	if !same {
		m.differ++
		return
	}
	if old := m.sessions[u.Session.Player]; old == nil || old.Version < u.Session.Version {
		m.sessions[u.Session.Player] = &u.Session
	}
	m.applied++
}

// Counts says how many updates were applied, how many were broken and how many sessions there are.
func (m *Mirror) Counts() (applied, differ int64, sessions int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.applied, m.differ, len(m.sessions)
}
