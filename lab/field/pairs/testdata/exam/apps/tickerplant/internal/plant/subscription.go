package plant

import (
	"sync"

	"tickerplant/internal/quote"
)

// A queue has quotes in their order.
type queue struct {
	name string
	ch   chan quote.Quote
}

func newQueue(name string) *queue { return &queue{name: name, ch: make(chan quote.Quote, 128)} }

func (s *queue) Next() (quote.Quote, bool) {
	q, ok := <-s.ch
	return q, ok
}

func (s *queue) offer(q quote.Quote) { s.ch <- q }
func (s *queue) end()                { close(s.ch) }

// A board has a place for each symbol.
type board struct {
	name string
	mu   sync.Mutex
	more sync.Cond
	last map[int]quote.Quote
	due  []int // symbols with news, in the order in which they came
	over bool
}

func newBoard(name string) *board {
	b := &board{name: name, last: make(map[int]quote.Quote)}
	b.more.L = &b.mu
	return b
}

func (b *board) Next() (quote.Quote, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.due) == 0 {
		if b.over {
			return quote.Quote{}, false
		}
		b.more.Wait()
	}
	symbol := b.due[0]
	b.due = append(b.due[:0], b.due[1:]...)
	q := b.last[symbol]
	delete(b.last, symbol)
	return q, true
}

func (b *board) offer(q quote.Quote) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.last[q.Symbol]; !ok {
		b.due = append(b.due, q.Symbol)
	}
	b.last[q.Symbol] = q
	b.more.Signal()
}

func (b *board) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.more.Signal()
}
