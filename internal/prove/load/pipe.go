package load

import (
	"errors"
	"sync"
	"time"
)

// A pipe is a connection with many operations under way: one goroutine sends,
// another receives.
type pipe struct {
	r     *run
	c     Conn
	slots chan struct{} // one for each operation under way

	mu      sync.Mutex
	open    map[int64]op
	order   []int64 // of sending, which is that of expiring; finished ones too
	broken  bool
	drained chan struct{} // closed when the receiver has ended
}

// pipe runs a worker whose connection is pipelined.
func (r *run) pipe(w *worker) {
	var p *pipe
	var full time.Duration // the last time that it was
	for {
		held := p != nil && p.reserve()
		if held {
			full = r.now()
		}
		o, ok := r.take(w, held)
		if !ok {
			break
		}
		// Answers that come together free many slots at once, for operations
		// that came due while there was none.
		o.free = o.free && o.at > full
		o.began, o.crowd = r.now(), -1
		r.busy.Add(1)
		r.begin(&o)
		if p != nil && p.isBroken() {
			p.end()
			p = nil
		}
		if p == nil {
			c, err := r.dial()
			if err != nil {
				r.done(o, Reply{}, err)
				r.busy.Add(-1)
				continue
			}
			p = newPipe(r, c)
		}
		p.send(o)
	}
	if p != nil {
		p.wait()
		p.end()
	}
}

func newPipe(r *run, c Conn) *pipe {
	p := &pipe{r: r, c: c, slots: make(chan struct{}, r.o.Depth), open: map[int64]op{}, drained: make(chan struct{})}
	p.slots <- struct{}{} // of the operation that it is made for
	go p.receive()
	return p
}

// reserve takes a slot and reports whether it had to wait for one.
func (p *pipe) reserve() (waited bool) {
	select {
	case p.slots <- struct{}{}:
		return false
	default:
	}
	p.slots <- struct{}{} // every operation ends, by time at the latest
	return true
}

func (p *pipe) send(o op) {
	p.mu.Lock()
	p.open[o.seq] = o
	p.order = append(p.order, o.seq)
	broken := p.broken
	p.mu.Unlock()
	if broken { // since it was looked at
		p.fail(errEnded)
		return
	}
	if err := p.c.Send(o.seq, time.Now().Add(p.r.o.Timeout)); err != nil {
		p.fail(err)
	}
}

// receive takes answers until the connection ends.
func (p *pipe) receive() {
	defer close(p.drained)
	var looked time.Duration
	for {
		reply, err := p.c.Receive(time.Now().Add(min(expiring, p.r.o.Timeout)))
		switch {
		case err == nil && reply.Seq < 0:
			p.r.rec.stray(p.r.now(), reply.Note, 1)
		case err == nil:
			p.finish(reply.Seq, reply, nil)
		}
		switch {
		case err == nil && reply.Last:
			p.fail(errEnded)
			return
		case err != nil && !errors.Is(err, ErrTimeout):
			p.fail(err)
			return
		}
		if now := p.r.now(); now-looked >= expiring {
			p.expire()
			looked = now
		}
	}
}

var errEnded = errors.New("the connection ended before the answer")

// finish ends an operation, if it has not expired before.
func (p *pipe) finish(seq int64, reply Reply, err error) {
	p.mu.Lock()
	o, ok := p.open[seq]
	delete(p.open, seq)
	p.mu.Unlock()
	if !ok {
		return
	}
	p.r.done(o, reply, err)
	p.r.busy.Add(-1)
	<-p.slots
}

// expire ends operations that have waited for too long, and forgets the order
// of those that have ended.
func (p *pipe) expire() {
	limit := p.r.now() - p.r.o.Timeout
	for {
		p.mu.Lock()
		if len(p.order) == 0 {
			p.mu.Unlock()
			return
		}
		seq := p.order[0]
		o, open := p.open[seq]
		if open && o.began > limit {
			p.mu.Unlock()
			return
		}
		p.order = p.order[1:]
		p.mu.Unlock()
		if open {
			p.finish(seq, Reply{}, ErrTimeout)
		}
	}
}

// fail ends all that is under way.
func (p *pipe) fail(err error) {
	p.mu.Lock()
	p.broken = true
	order := p.order
	p.order = nil
	p.mu.Unlock()
	for _, seq := range order {
		p.finish(seq, Reply{}, err)
	}
}

func (p *pipe) isBroken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// wait returns when nothing is under way any more.
func (p *pipe) wait() {
	// The worker's own slot is taken already.
	for range cap(p.slots) - 1 {
		p.slots <- struct{}{}
	}
}

// end closes the connection and waits for the receiver.
func (p *pipe) end() {
	p.r.hangUp(p.c)
	<-p.drained
}
