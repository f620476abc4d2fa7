// Package system is the parts of the game, each of which does one thing to fighters and
// runs in a goroutine that owns its state.
package system

import "runtime"

// A Step does to a fighter what a system is for, and reports whether that changed anything.
type Step func(fighter int) bool

type request struct {
	fighter int
	changed chan bool
}

// A System does its step for whoever asks.
type System struct {
	Name     string
	step     Step
	requests chan request
	stopped  chan struct{}
}

// New starts a system. A pinned one keeps a thread, as libraries with state in their
// thread want.
func New(name string, step Step, pinned bool) *System {
	s := &System{Name: name, step: step, requests: make(chan request), stopped: make(chan struct{})}
	go s.serve(pinned)
	return s
}

func (s *System) serve(pinned bool) {
	defer close(s.stopped)
	if pinned {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for r := range s.requests {
		r.changed <- s.step(r.fighter)
	}
}

// A Caller asks systems, one thing after the other.
type Caller struct{ changed chan bool }

// NewCaller makes a caller.
func NewCaller() *Caller { return &Caller{changed: make(chan bool)} }

// Call has a system do its step for a fighter.
func (c *Caller) Call(s *System, fighter int) bool {
	s.requests <- request{fighter: fighter, changed: c.changed}
	return <-c.changed
}

// Stop ends a system.
func (s *System) Stop() {
	close(s.requests)
	<-s.stopped
}
