// Package live keeps the latest position of each tram and passes changes on.
package live

import (
	"sync"

	"tramarrivals/internal/feed"
)

// Listener receives the positions of one line.
type Listener struct {
	C    chan feed.Position
	line int
}

// Options of a Network.
type Options struct {
	Detached bool
	Backlog  int
}

// Network is the state of all lines.
type Network struct {
	opt       Options
	mu        sync.RWMutex
	trams     map[int]map[int]feed.Position
	listeners map[int][]*Listener
	updates   int
}

// New returns an empty network.
func New(opt Options) *Network {
	return &Network{opt: opt, trams: map[int]map[int]feed.Position{}, listeners: map[int][]*Listener{}}
}

// Listen registers for the positions of a line.
func (n *Network) Listen(line int) *Listener {
	l := &Listener{C: make(chan feed.Position, n.opt.Backlog), line: line}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[line] = append(n.listeners[line], l)
	return l
}

// Leave ends the registration of a listener.
func (n *Network) Leave(l *Listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var rest []*Listener
	for _, o := range n.listeners[l.line] {
		if o != l {
			rest = append(rest, o)
		}
	}
	n.listeners[l.line] = rest
}

func (n *Network) store(p feed.Position) {
	m := n.trams[p.Line]
	if m == nil {
		m = map[int]feed.Position{}
		n.trams[p.Line] = m
	}
	m[p.Tram] = p
	n.updates++
}

// Update stores a position and tells the listeners of its line.
func (n *Network) Update(p feed.Position) {
	if n.opt.Detached {
		n.mu.Lock()
		n.store(p)
		ls := n.listeners[p.Line]
		n.mu.Unlock()
		for _, l := range ls {
			l.C <- p
		}
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.store(p)
	for _, l := range n.listeners[p.Line] {
		l.C <- p
	}
}

// Trams returns the positions on a line.
func (n *Network) Trams(line int) []feed.Position {
	n.mu.RLock()
	defer n.mu.RUnlock()
	out := make([]feed.Position, 0, len(n.trams[line]))
	for _, p := range n.trams[line] {
		out = append(out, p)
	}
	return out
}

// Updates returns the number of positions stored.
func (n *Network) Updates() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.updates
}
