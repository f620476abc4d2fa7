// Package lexicon holds the short codes that clubs use in their messages.
package lexicon

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Set is the codes of one club; a club may add some at any time.
type Set struct {
	early bool

	mu    sync.RWMutex
	codes map[string]string
	pairs []string
	ready *strings.Replacer
}

// NewSet returns the general codes.
func NewSet(early bool) *Set {
	s := &Set{early: early, codes: map[string]string{}}
	faces := []string{"smile", "frown", "wink", "cup", "ball", "goal", "whistle", "rain", "sun", "bus"}
	for i := range 130 {
		s.codes[fmt.Sprintf(":%s%d:", faces[i%len(faces)], i/len(faces))] = string(rune(0x1F600 + i))
	}
	s.rebuild()
	return s
}

// Add puts in a code of the club's own.
func (s *Set) Add(code, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[":"+code+":"] = text
	s.rebuild()
}

func (s *Set) rebuild() {
	s.pairs = make([]string, 0, 2*len(s.codes))
	for code, text := range s.codes {
		s.pairs = append(s.pairs, code, text)
	}
	if s.early {
		s.ready = strings.NewReplacer(s.pairs...)
	}
}

// Expand replaces the codes in a message.
func (s *Set) Expand(text string) string {
	if strings.Count(text, ":") < 2 {
		return text
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.ready != nil {
		return s.ready.Replace(text)
	}
	return strings.NewReplacer(s.pairs...).Replace(text)
}

// Codes lists all codes.
func (s *Set) Codes() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]string, 0, len(s.codes))
	for c := range s.codes {
		out = append(out, c)
	}
	sort.Strings(out)
	return out
}
