// Package delivery puts messages into folders.
package delivery

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"inboxfilters/internal/account"
	"inboxfilters/internal/filter"
	"inboxfilters/internal/mail"
)

// Service delivers to the users it was opened with.
type Service struct {
	sets map[string]*filter.Set

	mu      sync.Mutex
	folders map[string]int
	seen    map[[32]byte]struct{}
}

// Open reads the settings below dir.
func Open(dir string, v2 bool) (*Service, error) {
	all, err := account.Load(dir)
	if err != nil {
		return nil, err
	}
	s := &Service{sets: make(map[string]*filter.Set, len(all)), folders: map[string]int{}, seen: map[[32]byte]struct{}{}}
	for _, u := range all {
		set := filter.NewSet(u)
		if !v2 {
			if err := set.Prepare(); err != nil {
				return nil, err
			}
		}
		s.sets[u.User] = set
	}
	return s, nil
}

// Deliver files one raw message.
func (s *Service) Deliver(raw string) error {
	m, err := mail.Parse(raw)
	if err != nil {
		return err
	}
	set, ok := s.sets[m.To]
	if !ok {
		return fmt.Errorf("delivery: no user %q", m.To)
	}
	folder, err := set.Folder(m)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(raw))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.seen[sum]; !dup {
		s.seen[sum] = struct{}{}
		s.folders[m.To+"/"+folder]++
	}
	return nil
}

// Folders says how many folders have mail.
func (s *Service) Folders() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.folders)
}
