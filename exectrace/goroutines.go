package exectrace

import (
	"iter"
)

// An idTable finds a small number, mostly a slot, by an id. It is
// open-addressed in rows of sixty-four consecutive ids, because ids that are
// handed out together are met together, and the rows are spread by a
// multiplicative hash, because an identity hash makes one long cluster of
// them. Where a place is taken, the one after the same place of the next row is
// tried: steps of an odd length come by every place.
type idTable struct {
	entries []idEntry
	shift   uint // 64 - log2(number of rows)
	n       int
}

type idEntry struct {
	id   uint64
	slot int32 // plus one; 0 is empty
}

// probeStep is the way from one place to the next to try. perStep is its
// inverse modulo any power of two: a distance times perStep is that in steps.
const (
	probeStep = 65
	perStep   = 0xfc0fc0fc0fc0fc1
)

func (t *idTable) reset() {
	if t.entries == nil {
		t.resize(1 << 12)
		return
	}
	clear(t.entries)
	t.n = 0
}

func (t *idTable) home(id uint64) int {
	return int((id>>6*0x9e3779b97f4a7c15)>>t.shift<<6 | id&63)
}

// peek returns the slot of id when it is found at once, or -1.
func (t *idTable) peek(id uint64) int32 {
	e := &t.entries[t.home(id)]
	if e.id != id {
		return -1
	}
	return e.slot - 1
}

// get returns the slot of id, or -1.
func (t *idTable) get(id uint64) int32 {
	if s := t.peek(id); s >= 0 {
		return s
	}
	return t.probe(id)
}

func (t *idTable) probe(id uint64) int32 {
	mask := len(t.entries) - 1
	for i := t.home(id); ; i = (i + probeStep) & mask {
		if e := &t.entries[i]; e.slot == 0 {
			return -1
		} else if e.id == id {
			return e.slot - 1
		}
	}
}

// put adds an id that is not there.
func (t *idTable) put(id uint64, slot int32) {
	if t.n++; t.n*2 > len(t.entries) {
		t.resize(len(t.entries) * 2)
	}
	mask := len(t.entries) - 1
	i := t.home(id)
	for t.entries[i].slot != 0 {
		i = (i + probeStep) & mask
	}
	t.entries[i] = idEntry{id, slot + 1}
}

// remove takes an id out and moves those after it back, so that no
// tombstones gather when goroutines come and go.
func (t *idTable) remove(id uint64) {
	mask := len(t.entries) - 1
	i := t.home(id)
	for t.entries[i].id != id || t.entries[i].slot == 0 {
		if t.entries[i].slot == 0 {
			return
		}
		i = (i + probeStep) & mask
	}
	t.n--
	for j := i; ; {
		j = (j + probeStep) & mask
		e := t.entries[j]
		if e.slot == 0 {
			break
		}
		// e may move back to i unless its home lies after i.
		if steps(j-t.home(e.id), mask) >= steps(j-i, mask) {
			t.entries[i] = e
			i = j
		}
	}
	t.entries[i] = idEntry{}
}

// steps returns a distance between places of one probe in its steps.
func steps(distance, mask int) uint64 { return uint64(distance) * perStep & uint64(mask) }

func (t *idTable) resize(n int) {
	old := t.entries
	t.entries = make([]idEntry, n)
	t.shift = 64
	for r := n >> 6; r > 1; r >>= 1 {
		t.shift--
	}
	mask := n - 1
	for _, e := range old {
		if e.slot == 0 {
			continue
		}
		i := t.home(e.id)
		for t.entries[i].slot != 0 {
			i = (i + probeStep) & mask
		}
		t.entries[i] = e
	}
}

// sums are many short lists of (key, sum), as each goroutine has one for its
// wait reasons. A list is named by its head; -1 is the empty one.
type sums struct {
	nodes []sumNode
	free  int32 // list of unused nodes, plus one
}

// A sumNode is a cache line of a list. Few goroutines wait for more than six
// reasons.
type sumNode struct {
	sum  [6]int64
	key  [6]uint16 // plus one; 0 from the first that is unused
	next int32     // -1 at the end
}

// A keySum is one element of a list.
type keySum struct {
	key int32
	sum int64
}

func (s *sums) reset() { s.nodes, s.free = s.nodes[:0], 0 }

// add adds d to the sum of key in the list at head.
func (s *sums) add(head *int32, key int32, d int64) {
	if h := *head; h >= 0 {
		if n := &s.nodes[h]; n.key[0] == uint16(key+1) {
			n.sum[0] += d
			return
		}
	}
	s.addSlow(head, uint16(key+1), d)
}

func (s *sums) addSlow(head *int32, key uint16, d int64) {
	for i := *head; i >= 0; i = s.nodes[i].next {
		n := &s.nodes[i]
		for k := range n.key {
			if n.key[k] == key {
				n.sum[k] += d
				return
			}
			if n.key[k] == 0 { // in the last node only
				n.key[k], n.sum[k] = key, d
				return
			}
		}
	}
	i := s.free - 1
	if i >= 0 {
		s.free = s.nodes[i].next + 1
	} else {
		i = int32(len(s.nodes))
		s.nodes = extend(s.nodes)
	}
	n := &s.nodes[i]
	*n = sumNode{}
	n.key[0], n.sum[0], n.next = key, d, -1
	for *head >= 0 {
		head = &s.nodes[*head].next
	}
	*head = i
}

// all yields the elements of the list at head.
func (s *sums) all(head int32) iter.Seq[keySum] {
	return func(yield func(keySum) bool) {
		for i := head; i >= 0; i = s.nodes[i].next {
			n := s.nodes[i] // a copy: the caller may add to another list
			for k, key := range n.key {
				if key == 0 {
					break
				}
				if !yield(keySum{int32(key) - 1, n.sum[k]}) {
					return
				}
			}
		}
	}
}

// drop empties the list at head.
func (s *sums) drop(head *int32) {
	for i := *head; i >= 0; {
		next := s.nodes[i].next
		s.nodes[i].next = s.free - 1
		s.free = i + 1
		i = next
	}
	*head = -1
}

// total returns the sum over all keys of the list below limit.
func (s *sums) total(head, limit int32) (d int64) {
	for e := range s.all(head) {
		if e.key < limit {
			d += e.sum
		}
	}
	return d
}

// A waitTable sums durations by two keys, open-addressed.
type waitTable struct {
	entries []waitEntry
	shift   uint
	n       int
	last    int32 // index of the entry that at returned last
}

// A waitEntry is one line of the blocking profiles. cause holds what brought
// the state about in the upper and, for runnable goroutines, where they had
// waited in the lower half; both are stacks. class is state, reason and group.
type waitEntry struct {
	cause uint64
	class uint64 // 0 is empty
	n     int64
	total int64
}

func waitCause(stack, woken uint32) uint64 { return uint64(stack)<<32 | uint64(woken) }

// waitClass packs what a wait was. No state is 0, so no class is.
func waitClass(state State, reason, group uint16) uint64 {
	return uint64(state)<<32 | uint64(reason)<<16 | uint64(group)
}

func (t *waitTable) reset() {
	if t.entries == nil {
		t.entries = make([]waitEntry, 1<<10)
		t.shift = 54
	}
	clear(t.entries)
	t.n = 0
}

func waitHash(cause, class uint64) uint64 {
	h := cause ^ class*0x9e3779b97f4a7c15
	h ^= h >> 32
	return h * 0x9e3779b97f4a7c15
}

// add counts one wait. hint is the low bits of where the caller counted last,
// which is mostly where it counts again.
func (t *waitTable) add(hint *uint16, cause, class uint64, d int64) {
	e := &t.entries[int(*hint)&(len(t.entries)-1)]
	if e.cause != cause || e.class != class {
		e = t.at(cause, class)
		*hint = uint16(t.last)
	}
	e.n++
	e.total += d
}

// at returns the entry of two keys. It stays valid until the next call.
func (t *waitTable) at(cause, class uint64) *waitEntry {
	mask := uint64(len(t.entries) - 1)
	for i := waitHash(cause, class) >> t.shift; ; i = (i + 1) & mask {
		e := &t.entries[i]
		t.last = int32(i)
		if e.cause == cause && e.class == class {
			return e
		}
		if e.class == 0 {
			return t.insert(cause, class, e)
		}
	}
}

func (t *waitTable) insert(cause, class uint64, e *waitEntry) *waitEntry {
	if t.n++; t.n*2 > len(t.entries) {
		t.grow()
		mask := uint64(len(t.entries) - 1)
		i := waitHash(cause, class) >> t.shift
		for t.entries[i].class != 0 {
			i = (i + 1) & mask
		}
		e = &t.entries[i]
		t.last = int32(i)
	}
	e.cause, e.class = cause, class
	return e
}

func (t *waitTable) grow() {
	old := t.entries
	t.entries = make([]waitEntry, 2*len(old))
	t.shift--
	mask := uint64(len(t.entries) - 1)
	for _, e := range old {
		if e.class == 0 {
			continue
		}
		i := waitHash(e.cause, e.class) >> t.shift
		for t.entries[i].class != 0 {
			i = (i + 1) & mask
		}
		t.entries[i] = e
	}
}
