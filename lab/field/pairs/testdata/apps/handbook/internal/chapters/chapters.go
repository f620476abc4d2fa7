// Package chapters keeps a handbook.
package chapters

import (
	"fmt"
	"strings"
	"sync"
)

// A Chapter is a text in sections.
type Chapter struct {
	Name     string    `json:"name"`
	Sections []Section `json:"sections"`
	revision int
}

// A Section is a part of it.
type Section struct {
	Heading string   `json:"heading"`
	Text    string   `json:"text"`
	See     []string `json:"see,omitempty"`
}

// Revision counts how often a chapter was put.
func (c *Chapter) Revision() int { return c.revision }

// A Shelf has all chapters.
type Shelf struct {
	mu  sync.RWMutex
	all map[string]*Chapter
}

// NewShelf makes an empty one.
func NewShelf() *Shelf { return &Shelf{all: map[string]*Chapter{}} }

// Put puts a chapter in place of an older one.
func (s *Shelf) Put(c *Chapter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.all[c.Name]; old != nil {
		c.revision = old.revision + 1
	}
	s.all[c.Name] = c
}

// Get finds a chapter.
func (s *Shelf) Get(name string) (*Chapter, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.all[name]
	return c, ok
}

// Write makes a chapter up.
func Write(name string, sections int) *Chapter {
	c := &Chapter{Name: name}
	for i := range sections {
		c.Sections = append(c.Sections, Section{
			Heading: fmt.Sprintf("Section %d of %s", i, name),
			Text:    strings.Repeat(fmt.Sprintf("Turn the valve %d & wait. ", i), 8),
			See:     []string{fmt.Sprint("page ", i), fmt.Sprint("page ", i+4)},
		})
	}
	return c
}
