package exectrace

// A trace may say that hundreds of thousands of threads wait for something that
// never comes. Which of them is the earliest is then asked for each, and each
// that goes on may let all others try again. The first takes a heap, the second
// an end: a generation that was tried more often than this is given up.
const (
	leastTries   = 1 << 20
	triesPerByte = 16 // of the events; a trace of a hundred threads that all wait for each other takes 1.3
	// threadsPerTry is how many threads are looked through in the time of a try.
	threadsPerTry = 32
)

func (g *generation) patience() int64 {
	n := int64(0)
	for i := range g.events {
		n += int64(g.events[i].size)
	}
	return leastTries + triesPerByte*n
}

// A parkedThread is one that was parked, and may have been woken since.
type parkedThread struct {
	time int64 // of its next event
	m    int32
}

func (a parkedThread) before(b parkedThread) bool {
	return a.time < b.time || a.time == b.time && a.m < b.m
}

// A parkedHeap has the earliest first.
type parkedHeap []parkedThread

func (h *parkedHeap) push(p parkedThread) {
	s := append(*h, p)
	i := len(s) - 1
	for i > 0 && p.before(s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = p
	*h = s
}

func (h *parkedHeap) pop() parkedThread {
	s := *h
	first, p := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	i := 0
	for child := 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1].before(s[child]) {
			child++
		}
		if !s[child].before(p) {
			break
		}
		s[i] = s[child]
		i = child
	}
	if len(s) > 0 {
		s[i] = p
	}
	*h = s
	return first
}

// notePark remembers a thread that has just been parked.
func (e *engine) notePark(m int32) {
	t := &e.threads[m]
	if t.barrier {
		e.barriers.push(parkedThread{t.time, m})
	} else {
		e.waiting.push(parkedThread{t.time, m})
	}
}

// first returns the earliest of a heap that is still parked.
func (e *engine) first(h *parkedHeap) (parkedThread, bool) {
	for len(*h) > 0 {
		p := (*h)[0]
		if t := &e.threads[p.m]; t.parked && t.time == p.time {
			return p, true
		}
		h.pop()
	}
	return parkedThread{}, false
}

// fewBarriers is how many threads at a barrier are asked whether they can go on:
// of those that wait for a goroutine to end there is hardly ever a second.
const fewBarriers = 64

// earliest returns the parked thread whose next event is first. One that
// waits at a barrier, and for no goroutine to end, goes before any other.
func (e *engine) earliest() (m int32, barrier bool) {
	if !e.noting {
		// As long as all is well, nobody is parked in the end and nothing is noted.
		for i := range e.threads {
			if e.threads[i].parked {
				e.noting = true
				e.notePark(int32(i))
			}
		}
	}
	var held [fewBarriers]parkedThread
	n := 0
	defer func() {
		for _, p := range held[:n] {
			e.barriers.push(p)
		}
	}()
	for ; n < fewBarriers; n++ {
		p, ok := e.first(&e.barriers)
		if !ok {
			break
		}
		if e.absent(e.threads[p.m].wantG) {
			return p.m, true
		}
		held[n] = e.barriers.pop()
	}
	p, ok := e.first(&e.waiting)
	if n > 0 && (!ok || held[0].before(p)) {
		return held[0].m, false
	}
	if !ok {
		return -1, false
	}
	return p.m, false
}

// abandon leaves what the threads have not replayed.
func (e *engine) abandon() {
	for i := range e.threads {
		t := &e.threads[i]
		e.lostLen += int64(t.end - t.pos)
		for _, b := range t.batches[t.batch:] {
			e.lostLen += int64(b.size)
		}
		e.last = max(e.last, t.time)
		t.data, t.pos, t.end, t.batch = nil, 0, 0, len(t.batches)
		t.parked, t.barrier = false, false
	}
	e.queue, e.paused = e.queue[:0], e.paused[:0]
}
