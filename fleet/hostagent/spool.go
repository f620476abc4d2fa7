package hostagent

import "sync"

// A spool is what waits to be sent, the oldest first, in memory and within a bound: then
// the oldest is dropped, for what is new says more.
type spool struct {
	most  int64
	count *counters
	ready chan struct{} // has something while there may be more

	mu    sync.Mutex
	items []*item
	bytes int64
}

// An item is a request to the server.
type item struct{ body []byte }

func newSpool(most int64, c *counters) *spool {
	return &spool{most: most, count: c, ready: make(chan struct{}, 1)}
}

// add puts a request behind the others.
func (s *spool) add(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(len(body)) > s.most {
		s.count.dropped.Add(1)
		return
	}
	for s.bytes+int64(len(body)) > s.most {
		s.pop()
		s.count.dropped.Add(1)
	}
	s.items = append(s.items, &item{body})
	s.bytes += int64(len(body))
	s.count.spooled.Store(s.bytes)
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// pop takes the oldest out. The lock is held.
func (s *spool) pop() {
	s.bytes -= int64(len(s.items[0].body))
	s.items[0] = nil
	s.items = s.items[1:]
	s.count.spooled.Store(s.bytes)
}

// first returns the oldest, which stays; nil when there is none.
func (s *spool) first() *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.items) == 0 {
		return nil
	}
	return s.items[0]
}

// done takes an item out that was the first, if it was not dropped meanwhile.
func (s *spool) done(i *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.items) > 0 && s.items[0] == i {
		s.pop()
	}
}

func (s *spool) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}
