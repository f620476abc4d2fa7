package relay

import (
	"net/netip"
	"time"

	"zonerelay/internal/message"
)

// A waiter is a host that has asked.
type waiter struct {
	from netip.AddrPort
	id   uint16
}

// A flight is a question on its way.
type flight struct {
	id      uint16
	since   time.Time
	waiters []waiter
	packet  []byte // the question, and then the answer
}

func newFlight(id uint16, w waiter) *flight {
	return &flight{
		id: id, since: time.Now(),
		waiters: append(make([]waiter, 0, 4), w),
		packet:  make([]byte, 0, message.MaxSize),
	}
}

// answers are the last ones, the oldest of which gives way.
type answers struct {
	byName map[string][]byte
	ring   []string
	next   int
}

func newAnswers(n int) *answers {
	return &answers{byName: make(map[string][]byte, n), ring: make([]string, n)}
}

func (a *answers) get(name []byte) []byte { return a.byName[string(name)] }

func (a *answers) put(name, packet []byte) {
	if len(a.ring) == 0 {
		return
	}
	delete(a.byName, a.ring[a.next])
	key := string(name)
	a.byName[key] = append([]byte(nil), packet...)
	a.ring[a.next] = key
	a.next = (a.next + 1) % len(a.ring)
}
