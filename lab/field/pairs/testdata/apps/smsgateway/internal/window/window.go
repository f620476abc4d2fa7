// Package window remembers the last messages, so that none is sent twice.
package window

import (
	"container/list"
	"hash/maphash"
	"time"
)

// Window remembers the messages it has seen.
type Window interface {
	// Seen reports whether a message was seen before, and remembers it.
	Seen(id string, from string, at time.Time) bool
	Len() int
}

type sighting struct {
	id    string
	from  string
	first time.Time
}

// Recent remembers a number of messages.
type Recent struct {
	room  int
	order *list.List
	byID  map[string]*list.Element
}

// NewRecent makes a window with room for n messages.
func NewRecent(n int) *Recent {
	return &Recent{room: n, order: list.New(), byID: make(map[string]*list.Element, n)}
}

// Seen reports whether a message was seen before, and remembers it.
func (r *Recent) Seen(id, from string, at time.Time) bool {
	if e, ok := r.byID[id]; ok {
		r.order.MoveToFront(e)
		return true
	}
	r.byID[id] = r.order.PushFront(&sighting{id: id, from: from, first: at})
	if r.order.Len() > r.room {
		last := r.order.Back()
		delete(r.byID, last.Value.(*sighting).id)
		r.order.Remove(last)
	}
	return false
}

// Len returns how many messages are remembered.
func (r *Recent) Len() int { return r.order.Len() }

type print [2]uint64

// Ring remembers a number of messages by their prints.
type Ring struct {
	seeds [2]maphash.Seed
	ring  []print
	next  int
	set   map[print]int64
}

// NewRing makes a window with room for n messages.
func NewRing(n int) *Ring {
	return &Ring{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		ring:  make([]print, 0, n),
		set:   make(map[print]int64, n),
	}
}

// Seen reports whether a message was seen before, and remembers it.
func (r *Ring) Seen(id, from string, at time.Time) bool {
	var p print
	for i, s := range r.seeds {
		p[i] = maphash.String(s, id)
	}
	if _, ok := r.set[p]; ok {
		return true
	}
	r.set[p] = at.UnixNano()
	if len(r.ring) < cap(r.ring) {
		r.ring = append(r.ring, p)
		return false
	}
	delete(r.set, r.ring[r.next])
	r.ring[r.next] = p
	r.next = (r.next + 1) % len(r.ring)
	return false
}

// Len returns how many messages are remembered.
func (r *Ring) Len() int { return len(r.set) }
