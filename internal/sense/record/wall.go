package record

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// Of a program that nobody can ask, where its goroutines are is looked at several times a
// second. Added up that is a wall-clock profile: of a server whose requests wait for a database
// it has the time of each wait, which no other evidence from outside has.

const (
	// wallEvery is how often it is looked. In 5 s that is 100 looks: a share of a fifth of one
	// goroutine is known to within 8%, of ten within 3%. More often would tell little more.
	wallEvery = 50 * time.Millisecond
	// wallShare bounds the CPU time that it takes, to a fiftieth of a core. A look at 20
	// goroutines takes 0.13 ms where they stand and 0.35 where all move, at 1,000 it takes 0.8 and
	// 2.4 ms, at 10,000 it takes 5.5 and 6 ms (2 cores of an Intel Xeon, 2026-11-28). So gowhy looks 20
	// times a second at up to about 400 goroutines, and 3 times at 10,000. The program is not
	// stopped and does nothing for it.
	wallShare = 50
)

// A looker looks at all goroutines of a program, as a [goroutines.Reader] does.
type looker interface {
	Sample() (*goroutines.Snapshot, error)
}

// A wallSampler adds up where goroutines are until it is stopped. A nil one does nothing.
type wallSampler struct {
	memory looker
	mu     sync.Mutex // while a look is added
	sum    artifact.Wall
	last   time.Time // of the last look; zero after one that failed

	quit, done chan struct{}
	stopped    sync.Once
}

// sampleWall begins to look at a process.
func sampleWall(pid int) *wallSampler {
	reader, err := goroutines.Open(pid)
	if err != nil {
		return nil
	}
	s := &wallSampler{memory: reader, quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer reader.Close()
		s.run()
	}()
	return s
}

// run looks until somebody stops it, or the program has ended.
func (s *wallSampler) run() {
	runtime.LockOSThread() // its CPU time is counted by thread
	defer runtime.UnlockOSThread()
	for {
		began := proc.ThreadTime()
		if !s.look() {
			return
		}
		next := time.NewTimer(wallWait(proc.ThreadTime()-began, rand.Float64()))
		select {
		case <-next.C:
		case <-s.quit:
			next.Stop()
			return
		}
	}
}

// wallWait returns how long to wait after a look that took so much CPU time. Chance, from 0 to 1,
// spreads it over a half to one and a half of that: what a program does in step would be seen
// always or never.
func wallWait(took time.Duration, chance float64) time.Duration {
	return time.Duration((0.5 + chance) * float64(max(wallEvery, wallShare*took)))
}

// look adds what the goroutines do now for the time since the last look, and reports whether
// there may be another. The time before a look that failed is nobody's.
func (s *wallSampler) look() bool {
	now, err := s.memory.Sample()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || now == nil {
		s.last = time.Time{}
		return err == nil || errors.Is(err, goroutines.ErrUnsure)
	}
	if !s.last.IsZero() {
		s.sum.Add(now, now.Time.Sub(s.last))
	}
	s.last = now.Time
	return true
}

// stop ends the looks.
func (s *wallSampler) stop() {
	if s == nil {
		return
	}
	s.stopped.Do(func() { close(s.quit) })
	<-s.done
}

// keep writes what was added up so far.
func (s *wallSampler) keep(r *recorder) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.sum.Profile(); p != nil {
		r.keep(recording.WallMember, p, nil)
	}
}
