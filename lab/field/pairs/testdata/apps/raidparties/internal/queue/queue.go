// Package queue brings parties of a region and of like rating together.
package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"raidparties/internal/party"
)

// ErrLeft is the cause when a party leaves the queue.
var ErrLeft = errors.New("left the queue")

type partyKey struct{}

// Ticket is the place of a party in the queue.
type Ticket struct {
	Party *party.Party
	Found chan *Match

	ctx    context.Context
	cancel context.CancelFunc
}

// Match is what the queue made of two tickets.
type Match struct {
	Serial uint64
	A, B   *party.Party
}

// From returns the party that a context of the queue is about.
func From(ctx context.Context) *party.Party {
	p, _ := ctx.Value(partyKey{}).(*party.Party)
	return p
}

// Queue holds the tickets that wait.
type Queue struct {
	ctx      context.Context
	patience time.Duration
	v2       bool

	mu      sync.Mutex
	waiting map[string][]*Ticket
	serial  uint64
}

// New makes a queue in which a party waits no longer than patience.
func New(ctx context.Context, patience time.Duration, v2 bool) *Queue {
	return &Queue{ctx: ctx, patience: patience, v2: v2, waiting: make(map[string][]*Ticket)}
}

// Join takes a party into the queue, and makes a match if another one fits.
func (q *Queue) Join(p *party.Party) *Ticket {
	t := &Ticket{Party: p, Found: make(chan *Match, 1)}
	t.ctx, t.cancel = context.WithTimeout(context.WithValue(q.ctx, partyKey{}, p), q.patience)

	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.waiting[p.Region]
	for i, o := range list {
		if d := o.Party.Rating - p.Rating; d < -60 || d > 60 {
			continue
		}
		q.waiting[p.Region] = append(list[:i:i], list[i+1:]...)
		q.serial++
		m := &Match{Serial: q.serial, A: o.Party, B: p}
		q.announce(o, m)
		q.announce(t, m)
		return t
	}
	q.waiting[p.Region] = append(list, t)
	return t
}

func (q *Queue) announce(t *Ticket, m *Match) {
	t.Found <- m
	if q.v2 {
		t.cancel()
	}
}

// Leave takes a ticket back.
func (q *Queue) Leave(t *Ticket) error {
	defer t.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.waiting[t.Party.Region]
	for i, o := range list {
		if o == t {
			q.waiting[t.Party.Region] = append(list[:i:i], list[i+1:]...)
			return ErrLeft
		}
	}
	return nil
}

// Wait waits for the match of a ticket.
func (q *Queue) Wait(t *Ticket, limit time.Duration) (*Match, error) {
	short := time.NewTimer(limit)
	defer short.Stop()
	select {
	case m := <-t.Found:
		return m, nil
	case <-short.C:
	case <-t.ctx.Done():
	}
	if err := q.Leave(t); err != nil {
		return nil, err
	}
	return <-t.Found, nil
}
