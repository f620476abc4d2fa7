// Package history keeps messages of a room.
package history

import "chathistory/internal/talk"

// A Room has a history.
type Room interface {
	Say(m talk.Saying)
	Newest(n int) []talk.Saying
}

// A List has the newest message in front.
type List struct {
	limit int
	all   []talk.Saying
}

// NewList keeps up to a limit.
func NewList(limit int) *List { return &List{limit: limit} }

// Say adds a message.
func (l *List) Say(m talk.Saying) {
	l.all = append([]talk.Saying{m}, l.all...)
	if len(l.all) > l.limit {
		l.all = l.all[:l.limit]
	}
}

// Newest are the last n.
func (l *List) Newest(n int) []talk.Saying { return l.all[:min(n, len(l.all))] }

// A Ring has messages in the order in which they came.
type Ring struct {
	all []talk.Saying
	n   int
}

// NewRing keeps up to a limit.
func NewRing(limit int) *Ring { return &Ring{all: make([]talk.Saying, limit)} }

// Say adds a message in place of the oldest.
func (r *Ring) Say(m talk.Saying) {
	r.all[r.n%len(r.all)] = m
	r.n++
}

// Newest are the last n, the newest first.
func (r *Ring) Newest(n int) (out []talk.Saying) {
	for i := range min(n, r.n, len(r.all)) {
		out = append(out, r.all[(r.n-1-i)%len(r.all)])
	}
	return out
}
