// Package exchange keeps the sessions of pagers and the calls that are open.
package exchange

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Options of an exchange.
type Options struct {
	Turn    time.Duration // of listening, before the outbox is looked at
	Silence time.Duration // after which a pager is taken to be gone
}

// ErrAway says that a pager has no session.
var ErrAway = errors.New("exchange: pager is away")

// An Exchange calls pagers.
type Exchange struct {
	opt      Options
	mu       sync.Mutex
	sessions map[int]*session
	open     map[int]chan<- struct{}
	serial   int
}

// New makes an exchange.
func New(opt Options) *Exchange {
	return &Exchange{opt: opt, sessions: map[int]*session{}, open: map[int]chan<- struct{}{}}
}

// Serve takes pagers until the listener is closed.
func (x *Exchange) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go newSession(x, c).run()
	}
}

// Call sends a text to a pager; the channel is closed when it is acknowledged.
func (x *Exchange) Call(pager int, text string) (<-chan struct{}, error) {
	done := make(chan struct{})
	x.mu.Lock()
	s := x.sessions[pager]
	if s == nil {
		x.mu.Unlock()
		return nil, ErrAway
	}
	x.serial++
	id := x.serial
	x.open[id] = done
	x.mu.Unlock()
	s.enqueue(id, text)
	return done, nil
}

func (x *Exchange) acknowledge(id int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if done := x.open[id]; done != nil {
		close(done)
		delete(x.open, id)
	}
}

func (x *Exchange) enter(pager int, s *session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sessions[pager] = s
}

func (x *Exchange) leave(pager int, s *session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sessions[pager] == s {
		delete(x.sessions, pager)
	}
}

// Await waits until n pagers are there.
func (x *Exchange) Await(n int, patience time.Duration) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		x.mu.Lock()
		here := len(x.sessions)
		x.mu.Unlock()
		if here >= n {
			return true
		}
	}
	return false
}
