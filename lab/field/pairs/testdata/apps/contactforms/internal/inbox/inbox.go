// Package inbox keeps the last messages.
package inbox

import "sync"

// A Message is what somebody wrote.
type Message struct{ From, Text string }

// An Inbox has room for some messages.
type Inbox struct {
	mu   sync.Mutex
	last []Message
	n    int
}

// New makes an empty one.
func New(room int) *Inbox { return &Inbox{last: make([]Message, room)} }

// Put puts a message in and returns its number.
func (b *Inbox) Put(m Message) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last[b.n%len(b.last)] = m
	b.n++
	return b.n
}
