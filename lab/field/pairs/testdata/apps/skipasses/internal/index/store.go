// Package index is a concurrent store of objects with secondary indexes.
package index

import "sync"

// Func computes the values under which an object is found in an index.
type Func[T any] func(obj T) []string

type set map[string]struct{}

// Store holds objects by key.
type Store[T any] struct {
	mu       sync.RWMutex
	items    map[string]T
	indexers map[string]Func[T]
	indices  map[string]map[string]set
	v2       bool
}

// NewStore returns a store with the given indexes.
func NewStore[T any](indexers map[string]Func[T], v2 bool) *Store[T] {
	s := &Store[T]{
		items:    map[string]T{},
		indexers: indexers,
		indices:  map[string]map[string]set{},
		v2:       v2,
	}
	for name := range indexers {
		s.indices[name] = map[string]set{}
	}
	return s
}

// Put adds or replaces an object.
func (s *Store[T]) Put(key string, obj T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.items[key]; ok {
		s.unlink(key, old)
	}
	s.items[key] = obj
	for name, f := range s.indexers {
		idx := s.indices[name]
		for _, v := range f(obj) {
			members := idx[v]
			if members == nil {
				members = set{}
				idx[v] = members
			}
			members[key] = struct{}{}
		}
	}
}

// Delete removes an object.
func (s *Store[T]) Delete(key string) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, ok := s.items[key]
	if ok {
		s.unlink(key, obj)
		delete(s.items, key)
	}
	return obj, ok
}

func (s *Store[T]) unlink(key string, obj T) {
	for name, f := range s.indexers {
		idx := s.indices[name]
		for _, v := range f(obj) {
			members := idx[v]
			delete(members, key)
			if s.v2 && len(members) == 0 {
				delete(idx, v)
			}
		}
	}
}

// Get returns the object of a key.
func (s *Store[T]) Get(key string) (T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	obj, ok := s.items[key]
	return obj, ok
}

// ByIndex returns the objects with a value in an index.
func (s *Store[T]) ByIndex(name, value string) []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	members := s.indices[name][value]
	out := make([]T, 0, len(members))
	for key := range members {
		out = append(out, s.items[key])
	}
	return out
}

// Len returns the number of objects.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.items)
}
