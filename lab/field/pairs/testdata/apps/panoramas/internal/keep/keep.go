// Package keep keeps what was used last.
package keep

import "container/list"

type entry struct {
	key   int
	value []byte
}

// An LRU keeps a number of values.
type LRU struct {
	limit int
	load  func(key int) ([]byte, error)
	order *list.List
	all   map[int]*list.Element
}

// New makes one that loads what it has not.
func New(limit int, load func(key int) ([]byte, error)) *LRU {
	return &LRU{limit, load, list.New(), map[int]*list.Element{}}
}

// Get is a value, kept or loaded.
func (l *LRU) Get(key int) ([]byte, error) {
	if e, ok := l.all[key]; ok {
		l.order.MoveToFront(e)
		return e.Value.(*entry).value, nil
	}
	v, err := l.load(key)
	if err != nil {
		return nil, err
	}
	l.all[key] = l.order.PushFront(&entry{key, v})
	if l.order.Len() > l.limit {
		last := l.order.Back()
		l.order.Remove(last)
		delete(l.all, last.Value.(*entry).key)
	}
	return v, nil
}
