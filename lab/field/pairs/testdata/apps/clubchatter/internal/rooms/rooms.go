// Package rooms is the hub: each room hands its posts to its members.
package rooms

import (
	"fmt"
	"sync"
	"time"

	"clubchatter/internal/lexicon"
	"clubchatter/internal/wire"
)

// Listener gets the frames of one member.
type Listener interface {
	Name() string
	Frame(b []byte)
}

// Room has members and a goroutine that serves them.
type Room struct {
	name    string
	codes   *lexicon.Set
	posts   chan wire.Post
	members []Listener
	seq     uint64
	history []wire.Message
}

// Hub is all rooms.
type Hub struct {
	rooms map[string]*Room
	wg    sync.WaitGroup
}

// NewHub returns a hub without rooms.
func NewHub() *Hub { return &Hub{rooms: map[string]*Room{}} }

// Open adds a room and starts it.
func (h *Hub) Open(name string, codes *lexicon.Set, members []Listener) {
	r := &Room{name: name, codes: codes, posts: make(chan wire.Post, 64), members: members}
	h.rooms[name] = r
	h.wg.Go(r.run)
}

// Post takes what an app sent.
func (h *Hub) Post(raw []byte) error {
	p, err := wire.Parse(raw)
	if err != nil {
		return err
	}
	r := h.rooms[p.Room]
	if r == nil {
		return fmt.Errorf("no room %q", p.Room)
	}
	r.posts <- p
	return nil
}

// Close ends all rooms and returns how many messages they had.
func (h *Hub) Close() uint64 {
	var n uint64
	for _, r := range h.rooms {
		close(r.posts)
	}
	h.wg.Wait()
	for _, r := range h.rooms {
		n += r.seq
	}
	return n
}

func (r *Room) run() {
	for p := range r.posts {
		r.seq++
		r.deliver(wire.Build(p, r.seq, time.Now().UTC()))
	}
}

func (r *Room) deliver(m wire.Message) {
	m.Body = r.codes.Expand(m.Body)
	if len(r.history) >= 50 {
		copy(r.history, r.history[1:])
		r.history = r.history[:49]
	}
	r.history = append(r.history, m)
	for _, l := range r.members {
		b, err := wire.Encode(m, l.Name())
		if err != nil {
			continue
		}
		l.Frame(b)
	}
}
