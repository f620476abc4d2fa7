// Package batch puts single readings together into posts.
package batch

import (
	"context"
	"sync"
	"time"

	"meterposts/internal/billing"
)

type item struct {
	r    billing.Reading
	done chan error
}

// Poster collects readings and posts them together.
type Poster struct {
	Prompt bool

	post  func([]billing.Reading) error
	every time.Duration
	slots chan struct{}
	full  chan struct{}

	mu    sync.Mutex
	items []item
}

func New(post func([]billing.Reading) error, size int, every time.Duration) *Poster {
	return &Poster{
		post: post, every: every,
		slots: make(chan struct{}, size),
		full:  make(chan struct{}, 1),
	}
}

// Post adds a reading and returns when it is posted.
func (p *Poster) Post(r billing.Reading) error {
	p.slots <- struct{}{}
	it := item{r: r, done: make(chan error, 1)}
	p.mu.Lock()
	p.items = append(p.items, it)
	if p.Prompt && len(p.items) == cap(p.slots) {
		select {
		case p.full <- struct{}{}:
		default:
		}
	}
	p.mu.Unlock()
	return <-it.done
}

// Run posts what has come together.
func (p *Poster) Run(ctx context.Context) {
	t := time.NewTicker(p.every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-p.full:
		case <-ctx.Done():
			return
		}
		p.flush()
	}
}

func (p *Poster) flush() {
	p.mu.Lock()
	items := p.items
	p.items = nil
	p.mu.Unlock()
	if len(items) == 0 {
		return
	}
	for range items {
		<-p.slots
	}
	rs := make([]billing.Reading, len(items))
	for i, it := range items {
		rs[i] = it.r
	}
	err := p.post(rs)
	for _, it := range items {
		it.done <- err
	}
}
