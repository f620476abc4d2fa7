// Package settings keeps the documents that the back office uploads.
package settings

import (
	"fmt"
	"strings"
	"sync"
)

// Document is an uploaded text with its revision.
type Document struct {
	Name     string
	Revision int
	Body     string
}

// Store holds the current revision of each document.
type Store struct {
	mu   sync.RWMutex
	docs map[string]Document
}

// New returns an empty store.
func New() *Store { return &Store{docs: map[string]Document{}} }

// Put replaces a document and raises its revision.
func (s *Store) Put(name, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[name] = Document{Name: name, Revision: s.docs[name].Revision + 1, Body: body}
}

// Get returns the current revision.
func (s *Store) Get(name string) (Document, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d, ok := s.docs[name]
	if !ok {
		return Document{}, fmt.Errorf("settings: no document %q", name)
	}
	return d, nil
}

// Schedule writes a fee schedule in the form the insurers send it.
func Schedule(seed, lines int) string {
	var b strings.Builder
	b.WriteString("# code;group;cents;share;limit\n")
	for i := range lines {
		fmt.Fprintf(&b, "D%04d;%s;%d;%d;%d\n", 1000+i*3,
			[]string{"diagnostic", "preventive", "restorative", "endodontic"}[i%4],
			1500+(i*37*seed)%42000, 40+(i*seed)%60, 1+i%4)
	}
	return b.String()
}
