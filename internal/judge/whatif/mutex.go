package whatif

// What sync.Mutex does, for locks that are granted anew; and the tokens of the
// trace for those granted in its order.

// asTraced reports whether the lock of an op is granted in the order of the trace.
func (r *replay) asTraced(o *op) bool { return r.p.traced || r.p.locks[o.lock].traced }

// maxHeld bounds the locks that a goroutine is taken to hold: hostile traces
// take and never release.
const maxHeld = 16

// acquire takes a lock, and reports whether the goroutine goes on.
func (r *replay) acquire(g int32, s *replayG, o *op) bool {
	if r.e.locks != nil && r.e.locks[o.lock].removed || len(s.heldLocks) >= maxHeld {
		s.pc++
		return true
	}
	for _, h := range s.heldLocks {
		if h.lock == o.lock { // the trace saw it wait again before it got it
			s.pc++
			return true
		}
	}
	shard := r.shard(g, s, o)
	if r.asTraced(o) {
		if o.ref != 0 && r.sameShard(o) && !r.wait(g, s, o.ref) {
			return false
		}
		s.take(o.lock, -1)
		return true
	}
	if l := &r.locks[shard]; l.holder >= 0 || l.starving {
		l.waiters.pushBack(g)
		s.want, s.waitFrom = shard, r.now
		r.block(g, s)
		return false
	}
	r.locks[shard].holder = g
	s.take(o.lock, shard)
	return true
}

func (s *replayG) take(lock int16, shard int32) {
	s.lockCount++
	s.pc++
	s.heldLocks = append(s.heldLocks, lockRef{lock, shard})
}

// retry lets a woken waiter try again: it takes the lock, or waits again before all others.
func (r *replay) retry(g int32) bool {
	s := &r.gs[g]
	l := &r.locks[s.want]
	l.woken = false
	late := r.now-s.waitFrom > starve
	if l.holder < 0 || l.holder == g {
		l.holder = g
		l.starving = l.starving && late && l.waiters.len() > 0
		s.take(r.p.gs[g].ops[s.pc].lock, s.want)
		return true
	}
	l.starving = l.starving || late
	l.waiters.pushFront(g)
	r.block(g, s)
	return false
}

// unlock releases the lock of an op.
func (r *replay) unlock(p int32, s *replayG, o *op) {
	if o.ref != 0 && r.asTraced(o) {
		r.wake(o.ref, p)
	}
	for i := len(s.heldLocks) - 1; i >= 0; i-- {
		if h := s.heldLocks[i]; h.lock == o.lock {
			s.heldLocks = append(s.heldLocks[:i], s.heldLocks[i+1:]...)
			r.release(h.shard, p)
			return
		}
	}
}

// release wakes the first waiter of a lock, or hands it over.
func (r *replay) release(shard, p int32) {
	if shard < 0 {
		return // granted as traced
	}
	l := &r.locks[shard]
	l.holder = -1
	if l.woken && !l.starving {
		return
	}
	w := l.waiters.popFront()
	if w < 0 {
		l.starving = false
		return
	}
	if l.starving {
		l.holder = w
	}
	l.woken = true
	r.gs[w].state = retrying
	r.makeReady(w, p)
}

// shard picks the lock that an op takes, -1 where it is granted as traced:
// shards beyond the first come after all locks.
func (r *replay) shard(g int32, s *replayG, o *op) int32 {
	if r.asTraced(o) {
		return -1
	}
	if r.e.locks == nil || r.e.locks[o.lock].shards == 1 {
		return int32(o.lock)
	}
	n := r.e.locks[o.lock].shards
	pick := int32(mix(uint64(g)<<32|uint64(s.lockCount)) % uint64(n))
	if pick == 0 {
		return int32(o.lock)
	}
	at := int32(len(r.p.Locks))
	for i := range r.e.locks[:o.lock] {
		at += int32(r.e.locks[i].shards) - 1
	}
	return at + pick - 1
}

// sameShard reports whether a wait of the trace is still one when the lock has shards.
func (r *replay) sameShard(o *op) bool {
	return r.e.locks == nil || mix(uint64(o.ref))%uint64(r.e.locks[o.lock].shards) == 0
}

// mix makes a number that looks like chance and is the same each time.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
