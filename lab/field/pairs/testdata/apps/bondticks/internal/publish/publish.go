// Package publish sends books that have changed.
package publish

import (
	"bondticks/internal/frames"
	"bondticks/internal/market"
	"bondticks/internal/sink"
)

// Publisher remembers what subscribers have.
type Publisher struct {
	rack *frames.Rack
	out  *sink.Sink
	last map[string]uint64
	Same int64
	Sent int64
}

// New returns a publisher.
func New(rack *frames.Rack, out *sink.Sink) *Publisher {
	return &Publisher{rack: rack, out: out, last: make(map[string]uint64)}
}

// Offer sends a book unless subscribers have it.
func (p *Publisher) Offer(b *market.Book) {
	f := p.rack.Take()
	f.Write(b)
	sum := f.Sum()
	if p.last[b.ISIN] == sum {
		p.Same++
		return
	}
	p.last[b.ISIN] = sum
	p.Sent++
	p.out.Send(b.ISIN, f.Bytes())
	p.rack.Give(f)
}

// Push sends a book unless subscribers have it.
func (p *Publisher) Push(b *market.Book) {
	f := p.rack.Take()
	defer p.rack.Give(f)
	f.Write(b)
	sum := f.Sum()
	if p.last[b.ISIN] == sum {
		p.Same++
		return
	}
	p.last[b.ISIN] = sum
	p.Sent++
	p.out.Send(b.ISIN, f.Bytes())
}
