package markers

import (
	"container/list"
	"sync"
)

type key struct{ channel, member uint32 }

type entry struct {
	key  key
	mark *Mark
}

// shelf keeps the marks in the order of their last use.
type shelf struct {
	mu    sync.Mutex
	limit int
	order *list.List
	byKey map[key]*list.Element
}

func newShelf(limit int) *shelf {
	return &shelf{limit: limit, order: list.New(), byKey: make(map[key]*list.Element)}
}

func (s *shelf) Update(channel, member uint32, change func(*Mark)) Mark {
	k := key{channel, member}
	s.mu.Lock()
	defer s.mu.Unlock()
	if el, ok := s.byKey[k]; ok {
		s.order.MoveToFront(el)
		m := el.Value.(*entry).mark
		change(m)
		return *m
	}
	if s.order.Len() >= s.limit {
		last := s.order.Back()
		s.order.Remove(last)
		delete(s.byKey, last.Value.(*entry).key)
	}
	m := new(Mark)
	change(m)
	s.byKey[k] = s.order.PushFront(&entry{key: k, mark: m})
	return *m
}

func (s *shelf) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.order.Len()
}
