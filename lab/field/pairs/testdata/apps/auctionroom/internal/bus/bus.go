// Package bus passes events of a topic to those who listen.
package bus

import "sync"

type Event struct {
	Lot    int
	Bidder int
	Cents  int64
	Seq    int
}

type topic struct {
	mu   sync.RWMutex
	next int
	subs map[int]func(Event)
}

type Bus struct{ topics []topic }

func New(n int) *Bus {
	b := &Bus{topics: make([]topic, n)}
	for i := range b.topics {
		b.topics[i].subs = make(map[int]func(Event))
	}
	return b
}

// Subscribe gives the function that ends the subscription.
func (b *Bus) Subscribe(n int, fn func(Event)) (cancel func()) {
	t := &b.topics[n]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	id := t.next
	t.subs[id] = fn
	return func() {
		t.mu.Lock()
		delete(t.subs, id)
		t.mu.Unlock()
	}
}

func (b *Bus) Publish(n int, e Event) {
	t := &b.topics[n]
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, fn := range t.subs {
		fn(e)
	}
}
