// Package revisions keeps the texts of by-laws and what changed in them.
package revisions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	"bylawtexts/internal/compare"
)

// ErrUnknown is returned for a by-law that was never filed.
var ErrUnknown = errors.New("no such by-law")

// Revision is one state of a text.
type Revision struct {
	Number int            `json:"number"`
	Digest string         `json:"digest"`
	Author string         `json:"author"`
	Words  int            `json:"words"`
	Hunks  []compare.Hunk `json:"hunks"`
}

type bylaw struct {
	mu    sync.Mutex
	lines []string
	last  Revision
	terms map[string]int
}

// Store has the by-laws of a town.
type Store struct {
	options compare.Options
	mu      sync.RWMutex
	laws    map[string]*bylaw
}

// NewStore returns an empty store.
func NewStore(o compare.Options) *Store {
	return &Store{options: o, laws: map[string]*bylaw{}}
}

// File puts a new by-law in.
func (s *Store) File(name, text string) {
	lines := strings.Split(text, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.laws[name] = &bylaw{lines: lines, terms: terms(lines)}
}

// Amend puts a new text in place of the present one.
func (s *Store) Amend(name, author, text string) (Revision, []string, error) {
	s.mu.RLock()
	law := s.laws[name]
	s.mu.RUnlock()
	if law == nil {
		return Revision{}, nil, ErrUnknown
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	sum := sha256.Sum256([]byte(text))
	index := terms(lines)
	words := 0
	for _, n := range index {
		words += n
	}

	law.mu.Lock()
	defer law.mu.Unlock()
	hunks := compare.Lines(law.lines, lines, s.options)
	law.last = Revision{
		Number: law.last.Number + 1,
		Digest: hex.EncodeToString(sum[:]),
		Author: author,
		Words:  words,
		Hunks:  hunks,
	}
	law.lines, law.terms = lines, index
	return law.last, lines, nil
}

func terms(lines []string) map[string]int {
	out := make(map[string]int, 256)
	for _, l := range lines {
		for w := range strings.FieldsSeq(l) {
			out[strings.Trim(w, ".,;()")]++
		}
	}
	return out
}
