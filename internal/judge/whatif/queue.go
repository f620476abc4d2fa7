package whatif

import "slices"

// A queue gives what came first first.
type queue struct {
	list []int32
	head int
}

func (q *queue) len() int { return len(q.list) - q.head }

func (q *queue) push(g int32) { q.list = append(q.list, g) }

// pop returns -1 when there is none.
func (q *queue) pop() int32 {
	if q.len() == 0 {
		return -1
	}
	g := q.list[q.head]
	if q.head++; q.head > 64 && q.head*2 > len(q.list) {
		q.list = q.list[:copy(q.list, q.list[q.head:])]
		q.head = 0
	}
	return g
}

// A deque is a queue that also takes at its front. That is rare.
type deque struct{ queue }

func (d *deque) pushBack(g int32) { d.push(g) }

func (d *deque) popFront() int32 { return d.pop() }

func (d *deque) pushFront(g int32) {
	if d.head > 0 {
		d.head--
		d.list[d.head] = g
		return
	}
	d.list = slices.Insert(d.list, 0, g)
}

func (d *deque) remove(g int32) {
	if i := slices.Index(d.list[d.head:], g); i >= 0 {
		d.list = slices.Delete(d.list, d.head+i, d.head+i+1)
	}
}

// A heap gives the earliest first, and of equals the one that came first.
type heap struct {
	list []entry
	n    uint32
}

type entry struct {
	at float64
	n  uint32
	id int32
}

func (e entry) before(o entry) bool { return e.at < o.at || e.at == o.at && e.n < o.n }

func (h *heap) push(at float64, id int32) {
	h.n++
	h.list = append(h.list, entry{at, h.n, id})
	for i := len(h.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.list[i].before(h.list[up]) {
			return
		}
		h.list[i], h.list[up] = h.list[up], h.list[i]
		i = up
	}
}

func (h *heap) pop() int32 {
	id := h.list[0].id
	last := len(h.list) - 1
	h.list[0] = h.list[last]
	h.list = h.list[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return id
		}
		if down+1 < last && h.list[down+1].before(h.list[down]) {
			down++
		}
		if !h.list[down].before(h.list[i]) {
			return id
		}
		h.list[i], h.list[down] = h.list[down], h.list[i]
		i = down
	}
}
