// Package games hands scores to watchers.
package games

import "sync"

// A Score is how a game stands.
type Score struct {
	Game       string `json:"game"`
	Home, Away int
}

// A Watcher gets the scores of a game.
type Watcher struct {
	game    string
	in, out chan Score
	gone    chan struct{}
	once    sync.Once
}

// A Hub knows watchers.
type Hub struct {
	leave bool
	mu    sync.Mutex
	all   map[*Watcher]bool
}

// NewHub makes a hub, which may forget who leaves.
func NewHub(leave bool) *Hub { return &Hub{leave: leave, all: map[*Watcher]bool{}} }

// Watch watches a game.
func (h *Hub) Watch(game string) *Watcher {
	w := &Watcher{game: game, in: make(chan Score, 1), out: make(chan Score), gone: make(chan struct{})}
	go w.relay()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all[w] = true
	return w
}

// relay hands scores on, the newest when the watcher is slow.
func (w *Watcher) relay() {
	for {
		var s Score
		select {
		case s = <-w.in:
		case <-w.gone:
			return
		}
		select {
		case w.out <- s:
		case <-w.gone:
			return
		}
	}
}

// Scores are what a watcher gets.
func (w *Watcher) Scores() <-chan Score { return w.out }

// Leave ends watching.
func (h *Hub) Leave(w *Watcher) {
	h.mu.Lock()
	delete(h.all, w)
	h.mu.Unlock()
	if h.leave {
		w.once.Do(func() { close(w.gone) })
	}
}

// Publish hands a score to all who watch the game.
func (h *Hub) Publish(s Score) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.all {
		if w.game != s.Game {
			continue
		}
		select {
		case w.in <- s:
		default: // it has one already
		}
	}
}
