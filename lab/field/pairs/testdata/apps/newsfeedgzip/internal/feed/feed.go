// Package feed has the news of sections.
package feed

import (
	"fmt"
	"net/http"
	"time"
)

// An Item is a piece of news.
type Item struct {
	Title, Link string
	At          time.Time
}

// A Store has the items of each section.
type Store struct{ sections map[string][]Item }

// NewStore makes news up.
func NewStore(items int) *Store {
	s := &Store{sections: map[string][]Item{}}
	now := time.Now()
	for _, name := range []string{"world", "sports", "science", "local"} {
		for i := range items {
			s.sections[name] = append(s.sections[name], Item{
				Title: fmt.Sprintf("The %s council decides about number %d", name, i*37),
				Link:  fmt.Sprintf("https://news.example/%s/%d", name, i),
				At:    now.Add(time.Duration(-i) * time.Minute),
			})
		}
	}
	return s
}

// Handle writes the newest items of a section.
func (s *Store) Handle(w http.ResponseWriter, r *http.Request) {
	items, ok := s.sections[r.PathValue("section")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var text []byte
	for _, item := range items[:min(12, len(items))] {
		text = item.At.AppendFormat(text, time.RFC3339)
		text = append(append(append(append(text, '\t'), item.Title...), '\t'), item.Link...)
		text = append(text, '\n')
	}
	_, _ = w.Write(text)
}
