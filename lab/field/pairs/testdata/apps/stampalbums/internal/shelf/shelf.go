// Package shelf keeps the albums asked for most recently at hand.
package shelf

import (
	"container/list"
	"sync"

	"stampalbums/internal/album"
)

// Shelf is an LRU cache of albums, bounded by their weight.
type Shelf struct {
	mu     sync.Mutex
	budget int
	used   int
	weigh  func(*album.Album) int
	order  *list.List
	byID   map[int]*list.Element
}

type slot struct {
	album  *album.Album
	weight int
}

// New makes a shelf for budget bytes.
func New(budget int, weigh func(*album.Album) int) *Shelf {
	return &Shelf{budget: budget, weigh: weigh, order: list.New(), byID: make(map[int]*list.Element)}
}

// Get returns an album if it is on the shelf.
func (s *Shelf) Get(id int) (*album.Album, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*slot).album, true
}

// Put adds an album and removes the oldest ones when there is no more room.
func (s *Shelf) Put(a *album.Album) {
	w := s.weigh(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.byID[a.ID]; ok {
		return
	}
	s.byID[a.ID] = s.order.PushFront(&slot{a, w})
	s.used += w
	for s.used > s.budget {
		last := s.order.Back()
		old := s.order.Remove(last).(*slot)
		delete(s.byID, old.album.ID)
		s.used -= old.weight
	}
}

// Full tells whether another album of weight w would push one out.
func (s *Shelf) Full(w int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used+w > s.budget
}
