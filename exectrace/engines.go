package exectrace

import (
	"cmp"
	"sync"
)

// How many generations are in memory at once.

// engines are those of one reading. Every one is either free, or at work in a
// job, or held by whoever takes the results: their number bounds the generations
// in memory. Of pieces, whose spans take several times what the trace does, that
// memory bounds it too: on many cores generations are large, and many at once. How
// many times it is, between six and twelve, the generations before tell.
//
// Memory is kept, since to get it costs more than to use it.
type engines struct {
	free chan struct{} // as many as may be taken

	mu     sync.Mutex
	less   sync.Cond
	idle   []*engine // the one used last comes first: its memory is warm
	pieces bool
	bytes  int64   // of the generations in engines
	times  float64 // so many the bytes of a generation, its spans and lives took at most
}

// maxPieceMemory bounds the spans and lives of the generations that are made into
// pieces at once, unless it is one; a piece that is being taken does not count.
const maxPieceMemory = 500 << 20

// firstTimes is what a generation is thought to take before one is known: of
// goroutines that do hardly anything but begin and end.
const firstTimes = 12

func newEngines(workers int, pieces bool) *engines {
	n := workers + 1
	if pieces {
		n = max(workers, 2)
	}
	s := &engines{free: make(chan struct{}, n), pieces: pieces}
	s.less.L = &s.mu
	for range n {
		s.free <- struct{}{}
	}
	return s
}

// get returns an engine for a generation, when one may be taken.
func (s *engines) get(g *generation) *engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := g.end - g.off
	for s.pieces && s.bytes > 0 && float64(s.bytes+size)*cmp.Or(s.times, firstTimes) > maxPieceMemory {
		s.less.Wait()
	}
	s.bytes += size
	var e *engine
	if n := len(s.idle); n > 0 {
		e = s.idle[n-1]
		s.idle = s.idle[:n-1]
	} else if e, _ = idleEngines.Get().(*engine); e == nil {
		e = newEngine()
	}
	e.full = true
	return e
}

// put takes the engine of a generation back.
func (s *engines) put(e *engine, g *generation) {
	s.empty(e, g)
	if e.notes != nil {
		e.notes.release()
		e.notes.p.onTake = nil
	}
	s.mu.Lock()
	s.idle = append(s.idle, e)
	s.mu.Unlock()
	s.free <- struct{}{}
}

// empty tells that an engine gives back the memory of its generation's piece, or
// soon will have: that goes faster than the next one needs it.
func (s *engines) empty(e *engine, g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.full {
		return
	}
	e.full = false
	size := g.end - g.off
	s.bytes -= size
	if e.notes != nil && size > 1<<20 { // a small one has other things in it
		s.times = max(s.times, float64(e.notes.most)/float64(size))
	}
	s.less.Signal()
}

// idleEngines are those that no reading has. To get memory for a large
// generation takes longer than to read it.
var idleEngines sync.Pool

// giveBack lets other readings have the engines.
func (s *engines) giveBack() {
	for _, e := range s.idle {
		e.g = nil
		if e.spare != nil {
			e.spare.p.Lives = nil // the join's
		}
		idleEngines.Put(e)
	}
	s.idle = nil
}
