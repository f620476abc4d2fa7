package markers

import "sync"

type slot struct {
	key        uint64
	prev, next uint32
	mark       Mark
}

// ring keeps the marks in slots that are linked by their numbers; slot 0 is
// the head.
type ring struct {
	mu    sync.Mutex
	limit int
	slots []slot
	byKey map[uint64]uint32
}

func newRing(limit int) *ring {
	return &ring{limit: limit, slots: make([]slot, 1, limit+1), byKey: make(map[uint64]uint32)}
}

func (r *ring) Update(channel, member uint32, change func(*Mark)) Mark {
	k := uint64(channel)<<32 | uint64(member)
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.byKey[k]
	switch {
	case ok:
		r.unlink(at)
	case len(r.slots) <= r.limit:
		at = uint32(len(r.slots))
		r.slots = append(r.slots, slot{key: k})
		r.byKey[k] = at
	default:
		at = r.slots[0].prev
		r.unlink(at)
		delete(r.byKey, r.slots[at].key)
		r.slots[at] = slot{key: k}
		r.byKey[k] = at
	}
	s, head := &r.slots[at], &r.slots[0]
	s.prev, s.next = 0, head.next
	r.slots[head.next].prev = at
	head.next = at
	change(&s.mark)
	return s.mark
}

func (r *ring) unlink(at uint32) {
	s := &r.slots[at]
	r.slots[s.prev].next = s.next
	r.slots[s.next].prev = s.prev
}

func (r *ring) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.slots) - 1
}
