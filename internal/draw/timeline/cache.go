package timeline

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
)

// A cache keeps what was made by reading pieces of the trace again, as long as
// there is room, and makes what is asked for: each thing once, however many
// ask; the latest asked for first, as that is what somebody looks at; and not
// what nobody has asked for since. What will be asked for next is made while nobody
// waits for anything, and given up when somebody does.
//
// Without it half of the tiles below the pyramid's base take some 20 ms, where the bar is
// 10, and 1 ms with it; without reading ahead one in twenty takes 21 ms while somebody
// moves sideways, and 2.4 ms with it: bench/README.md, "How fast the page is".
type cache struct {
	budget  int64
	workers int
	// make makes one thing, or some that can be made together.
	make func(ctx context.Context, items []*item)
	// batch tells how many things like one can be made with it in one pass,
	// and which.
	batch func(one itemKey) (limit int, with func(other itemKey) bool)

	ctx    context.Context
	stop   context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	items  map[itemKey]*item
	queue  []*item // the latest asked for last
	busy   int
	guess  *item // that is being made and nobody has asked for
	leave  context.CancelFunc
	bytes  int64
	clock  int64
	closed bool
}

type itemKind uint8

const (
	itemStrips itemKind = iota // of a chunk
	itemDetail                 // of a chunk
	itemGo                     // the lane of one goroutine over all of the trace
	itemSearch
)

type itemKey struct {
	kind itemKind
	n    uint32
	text string // of a search
}

type item struct {
	key      itemKey
	ready    chan struct{} // closed when it is made or has failed
	value    any           // may grow before ready, for those that know how to read it
	bytes    int64
	err      error
	used     int64
	guessed  bool          // nobody has asked for it
	progress atomic.Uint64 // float64 bits, 0 to 1
}

func (it *item) setProgress(p float64) { it.progress.Store(math.Float64bits(min(max(p, 0), 1))) }
func (it *item) done() float64         { return math.Float64frombits(it.progress.Load()) }

// maxQueue bounds what waits: the oldest wishes are dropped, and come back when
// they are still wished.
const maxQueue = 512

var errDropped = errors.New("nobody needs it any more")

func newCache(budget int64, workers int) *cache {
	s := &cache{budget: budget, workers: workers, items: map[itemKey]*item{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// close stops what is being made and waits for it.
func (s *cache) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.done.Wait()
}

// peek returns something that is there, nil when it is not.
func (s *cache) peek(key itemKey) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.items[key]
	if it == nil {
		return nil
	}
	select {
	case <-it.ready:
		s.clock++
		it.used = s.clock
		return it
	default:
		return nil
	}
}

// want asks for something without waiting for it.
func (s *cache) want(key itemKey) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ask(key, false)
}

// ask is want, or with guess what nobody waits for.
func (s *cache) ask(key itemKey, guess bool) *item {
	s.clock++
	it := s.items[key]
	if it != nil && it.isReady() {
		it.used = s.clock
		return it
	}
	if !guess && s.guess != nil {
		if s.guess != it {
			delete(s.items, s.guess.key)
			s.leave()
		}
		s.guess = nil
	}
	if it != nil {
		it.used, it.guessed = s.clock, it.guessed && guess
		s.raise(it)
		return it
	}
	it = &item{key: key, ready: make(chan struct{}), used: s.clock, guessed: guess}
	if s.closed {
		it.err = context.Canceled
		close(it.ready)
		return it
	}
	s.items[key] = it
	s.queue = append(s.queue, it)
	if len(s.queue) > maxQueue {
		s.drop(s.queue[0], errDropped)
		s.queue = s.queue[1:]
	}
	if s.busy < s.workers {
		s.busy++
		s.done.Add(1)
		go s.work()
	}
	return it
}

// hint makes something when nothing else is to be made: it will be wanted soon.
func (s *cache) hint(key itemKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 && s.guess == nil && s.items[key] == nil && !s.closed {
		s.ask(key, true)
	}
}

// raise moves a waiting item to where the next is taken.
func (s *cache) raise(it *item) {
	for i, q := range s.queue {
		if q == it {
			copy(s.queue[i:], s.queue[i+1:])
			s.queue[len(s.queue)-1] = it
			return
		}
	}
}

// drop ends an item without a value. Asked for again, it is made anew.
func (s *cache) drop(it *item, err error) {
	it.err = err
	if s.items[it.key] == it {
		delete(s.items, it.key)
	}
	close(it.ready)
}

// wait waits for an item as long as ctx allows; false when it is not there by then.
func wait(ctx context.Context, it *item) (bool, error) {
	select {
	case <-it.ready:
	default:
		select {
		case <-it.ready:
		case <-ctx.Done():
			return false, nil
		}
	}
	if errors.Is(it.err, errDropped) {
		return false, nil
	}
	return it.err == nil, it.err
}

func (s *cache) work() {
	defer s.done.Done()
	for {
		items := s.next()
		if items == nil {
			return
		}
		s.run(items)
	}
}

func (s *cache) run(items []*item) {
	ctx, leave := context.WithCancel(s.ctx)
	defer leave()
	s.mu.Lock()
	if items[0].guessed {
		s.guess, s.leave = items[0], leave
	}
	s.mu.Unlock()
	s.make(ctx, items)
	s.mu.Lock()
	defer s.mu.Unlock()
	left := ctx.Err() != nil && s.ctx.Err() == nil
	if s.guess == items[0] {
		s.guess = nil
	}
	for _, it := range items {
		if left && it.err != nil {
			it.err = errDropped
		}
		s.put(it)
	}
}

// next takes what was asked for last, with what can be made together with it.
func (s *cache) next() []*item {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.queue)
	if n == 0 || s.closed {
		for _, it := range s.queue {
			s.drop(it, context.Canceled)
		}
		s.queue = nil
		s.busy--
		return nil
	}
	items := []*item{s.queue[n-1]}
	s.queue = s.queue[:n-1]
	limit, with := s.batch(items[0].key)
	if limit <= 1 {
		return items
	}
	rest := s.queue[:0]
	for _, it := range s.queue {
		if len(items) < limit && with(it.key) {
			items = append(items, it)
		} else {
			rest = append(rest, it)
		}
	}
	s.queue = rest
	return items
}

// put keeps what was made, and lets go of what was used longest ago.
func (s *cache) put(it *item) {
	if it.err != nil || s.items[it.key] != it {
		s.drop(it, it.err)
		return
	}
	s.bytes += it.bytes
	close(it.ready)
	for s.bytes > s.budget {
		var oldest *item
		for _, other := range s.items {
			if other != it && other.isReady() && (oldest == nil || other.used < oldest.used) {
				oldest = other
			}
		}
		if oldest == nil {
			return
		}
		s.bytes -= oldest.bytes
		delete(s.items, oldest.key)
	}
}

func (it *item) isReady() bool {
	select {
	case <-it.ready:
		return true
	default:
		return false
	}
}
