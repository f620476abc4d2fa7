package exectrace

import "sync"

// How many generations are in memory at once.

// engines are those of one reading. Every one is either free, or at work in a
// job, or held by whoever takes the results: their number bounds the generations
// in memory. Of pieces, whose spans take several times what the trace does, the
// bytes bound it too: on many cores generations are large, and many at once.
//
// Memory is kept, since to get it costs more than to use it.
type engines struct {
	free chan struct{} // as many as may be taken

	mu     sync.Mutex
	less   sync.Cond
	idle   []*engine // the one used last comes first: its memory is warm
	pieces bool
	bytes  int64 // of the generations in engines
}

// maxPieceBytes bounds the bytes of the generations that are made into pieces
// at once, unless it is one. Their spans take about 250 MB.
const maxPieceBytes = 40 << 20

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
	for s.pieces && s.bytes > 0 && s.bytes+size > maxPieceBytes {
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
	return e
}

// put takes the engine of a generation back.
func (s *engines) put(e *engine, g *generation) {
	if e.notes != nil {
		e.notes.release()
	}
	s.mu.Lock()
	s.idle = append(s.idle, e)
	s.bytes -= g.end - g.off
	s.mu.Unlock()
	s.less.Signal()
	s.free <- struct{}{}
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
