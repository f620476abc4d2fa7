// Package recent keeps the values that were used last.
package recent

import (
	"container/list"
	"sync"
)

// Leaver is told of the values that had to make room.
type Leaver interface {
	Left(key string, value any)
}

type entry struct {
	key   string
	value any
}

// Map is a map of limited size; the value not used for longest leaves first.
type Map struct {
	max    int
	leaver Leaver

	mu    sync.Mutex
	order *list.List
	items map[string]*list.Element
	left  int
}

// New returns a map of at most max values.
func New(max int, leaver Leaver) *Map {
	return &Map{max: max, leaver: leaver, order: list.New(), items: make(map[string]*list.Element, max)}
}

// Get returns the value of key.
func (m *Map) Get(key string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.items[key]
	if !ok {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*entry).value, true
}

// Add puts a value in if there is none for key and returns the one that is in.
func (m *Map) Add(key string, value any) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.items[key]; ok {
		return e.Value.(*entry).value
	}
	m.items[key] = m.order.PushFront(&entry{key, value})
	for m.order.Len() > m.max {
		en := m.oldest()
		m.leaver.Left(en.key, en.value)
	}
	return value
}

// Place is Add for callers that may be told of leavers a little later.
func (m *Map) Place(key string, value any) any {
	var gone []*entry
	m.mu.Lock()
	if e, ok := m.items[key]; ok {
		value = e.Value.(*entry).value
	} else {
		m.items[key] = m.order.PushFront(&entry{key, value})
		for m.order.Len() > m.max {
			gone = append(gone, m.oldest())
		}
	}
	m.mu.Unlock()
	for _, en := range gone {
		m.leaver.Left(en.key, en.value)
	}
	return value
}

func (m *Map) oldest() *entry {
	en := m.order.Remove(m.order.Back()).(*entry)
	delete(m.items, en.key)
	m.left++
	return en
}

// Len returns the number of values in the map and of those that left.
func (m *Map) Len() (in, left int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.order.Len(), m.left
}
