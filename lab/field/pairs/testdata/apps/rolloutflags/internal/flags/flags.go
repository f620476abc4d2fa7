// Package flags turns features on for some of the visitors.
package flags

import (
	"hash/fnv"
	"io"
	"maps"
	"sync"
	"sync/atomic"
)

// A Rollout is for how many visitors a feature is on.
type Rollout struct {
	Percent int
	Team    string
}

// A Set has all features.
type Set struct {
	shared bool
	mu     sync.Mutex
	all    map[string]Rollout
	view   atomic.Pointer[map[string]Rollout]
}

// NewSet makes a set without features, whose views may be shared.
func NewSet(shared bool) *Set { return &Set{shared: shared, all: map[string]Rollout{}} }

// Turn says for how many a feature is on.
func (s *Set) Turn(name string, r Rollout) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[name] = r
	view := maps.Clone(s.all)
	s.view.Store(&view)
}

// View is all features as they are now.
func (s *Set) View() map[string]Rollout {
	if s.shared {
		return *s.view.Load()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]Rollout, len(s.all))
	maps.Copy(out, s.all)
	return out
}

// On reports whether a visitor sees a feature.
func (s *Set) On(name, visitor string) bool {
	r, ok := s.View()[name]
	if !ok {
		return false
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	_, _ = io.WriteString(h, visitor)
	return int(h.Sum32()%100) < r.Percent
}
