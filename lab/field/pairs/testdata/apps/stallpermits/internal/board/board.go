// Package board shows the latest permit of each stall and lets readers wait for the next.
package board

import (
	"context"
	"sync"

	"stallpermits/internal/permits"
)

// Board keeps the newest permits.
type Board struct {
	perStall bool

	mu      sync.Mutex
	latest  map[int]*permits.Signed
	changed chan struct{}
	stalls  map[int]chan struct{}
}

// New makes an empty board.
func New(perStall bool) *Board {
	return &Board{
		perStall: perStall,
		latest:   map[int]*permits.Signed{},
		changed:  make(chan struct{}),
		stalls:   map[int]chan struct{}{},
	}
}

// Post replaces the permit of a stall.
func (b *Board) Post(p *permits.Signed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest[p.Stall] = p
	if b.perStall {
		if ch, ok := b.stalls[p.Stall]; ok {
			close(ch)
			delete(b.stalls, p.Stall)
		}
		return
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Board) look(stall int, after int64) (*permits.Signed, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.latest[stall]; p != nil && p.Revision > after {
		return p, nil
	}
	if !b.perStall {
		return nil, b.changed
	}
	ch, ok := b.stalls[stall]
	if !ok {
		ch = make(chan struct{})
		b.stalls[stall] = ch
	}
	return nil, ch
}

// Next waits for a permit of the stall that is newer than revision after.
func (b *Board) Next(ctx context.Context, stall int, after int64) (*permits.Signed, error) {
	for {
		p, ch := b.look(stall, after)
		if p != nil {
			return p, nil
		}
		select {
		case <-ch:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
