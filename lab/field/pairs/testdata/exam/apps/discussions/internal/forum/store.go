package forum

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"time"
)

// ErrUnknown is returned for what is not there.
var ErrUnknown = errors.New("forum: there is no such discussion")

var words = strings.Fields(`the council has decided that trams go to the harbour again but who pays for <rails>
and bridges & when do they open I read last year it would take until spring which nobody believes anyway`)

// A Store keeps discussions by the slug of their article.
type Store struct {
	mu     sync.RWMutex
	roots  map[string][]*Reply
	byID   map[string]map[int]*Reply
	posted int
	next   int
}

// NewStore returns a store without discussions.
func NewStore() *Store {
	return &Store{roots: map[string][]*Reply{}, byID: map[string]map[int]*Reply{}}
}

// Slug returns the slug of an article.
func Slug(i int) string { return fmt.Sprintf("trams-%03d", i) }

// Seed fills a discussion with n replies, most of which answer the one before.
func (s *Store) Seed(slug string, n int) {
	rnd := rand.New(rand.NewSource(int64(n)))
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	parent := 0
	for range n {
		var text strings.Builder
		for range 12 + rnd.Intn(30) {
			text.WriteString(words[rnd.Intn(len(words))])
			text.WriteByte(' ')
		}
		at = at.Add(time.Duration(rnd.Intn(900)) * time.Second)
		to := parent
		switch rnd.Intn(20) {
		case 0:
			to = 0
		}
		r, _ := s.post(slug, to, Author{Name: fmt.Sprintf("reader%d", rnd.Intn(400))}, text.String(), at)
		r.Hidden, r.Votes = rnd.Intn(25) == 0, rnd.Intn(50)
		if rnd.Intn(4) > 0 {
			parent = r.ID
		}
	}
	s.posted = 0
}

// Post adds an answer to another reply, or to the article if to is 0.
func (s *Store) Post(slug string, to int, by Author, text string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[slug] == nil {
		return 0, ErrUnknown
	}
	r, err := s.post(slug, to, by, text, time.Now())
	if err != nil {
		return 0, err
	}
	return r.ID, nil
}

func (s *Store) post(slug string, to int, by Author, text string, at time.Time) (*Reply, error) {
	if s.byID[slug] == nil {
		s.byID[slug] = map[int]*Reply{}
	}
	s.next++
	r := &Reply{ID: s.next, Author: by, Text: text, At: at}
	if to == 0 {
		s.roots[slug] = append(s.roots[slug], r)
	} else {
		p := s.byID[slug][to]
		if p == nil {
			return nil, ErrUnknown
		}
		p.Answers = append(p.Answers, r)
	}
	s.byID[slug][r.ID] = r
	s.posted++
	return r, nil
}

// Vote adds a vote to a reply.
func (s *Store) Vote(slug string, id int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.byID[slug][id]
	if r == nil {
		return ErrUnknown
	}
	r.Votes++
	return nil
}

// View calls f with a discussion, which does not change meanwhile.
func (s *Store) View(slug string, f func([]*Reply) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.byID[slug] == nil {
		return ErrUnknown
	}
	return f(s.roots[slug])
}

// Posted returns how many replies were posted.
func (s *Store) Posted() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.posted
}
