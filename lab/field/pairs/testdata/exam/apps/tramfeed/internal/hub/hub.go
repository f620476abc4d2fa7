// Package hub takes positions and carries them to those who subscribed to their lines.
package hub

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"

	"tramfeed/internal/wire"
)

// Options of a hub.
type Options struct {
	Outbox int // positions that wait for a subscriber
	Buffer int // of the kernel, for a connection
}

// A Hub has subscribers.
type Hub struct {
	opt      Options
	incoming chan wire.Position
	mu       sync.Mutex
	byLine   map[uint16][]*subscriber
	count    int
	latest   map[uint16]wire.Position // by car
}

// New starts a hub.
func New(opt Options) *Hub {
	h := &Hub{
		opt: opt, incoming: make(chan wire.Position, 128),
		byLine: map[uint16][]*subscriber{}, latest: map[uint16]wire.Position{},
	}
	go h.distribute()
	return h
}

// Publish hands a position to the hub.
func (h *Hub) Publish(p wire.Position) { h.incoming <- p }

// Serve takes subscribers until the listener is closed.
func (h *Hub) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go h.welcome(c)
	}
}

// welcome reads which line somebody wants to see.
func (h *Hub) welcome(c net.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	var line uint16
	text, err := bufio.NewReader(c).ReadString('\n')
	if err == nil {
		_, err = fmt.Sscanf(text, "line %d\n", &line)
	}
	if err != nil {
		c.Close()
		return
	}
	if t, ok := c.(*net.TCPConn); ok && h.opt.Buffer > 0 {
		_ = t.SetWriteBuffer(h.opt.Buffer)
	}
	s := newSubscriber(c, h.opt.Outbox)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byLine[line] = append(h.byLine[line], s)
	h.count++
}

// Await waits until there are n subscribers.
func (h *Hub) Await(n int, patience time.Duration) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		count := h.count
		h.mu.Unlock()
		if count >= n {
			return true
		}
	}
	return false
}

// distribute carries each position to the subscribers of its line.
func (h *Hub) distribute() {
	var room []byte
	for p := range h.incoming {
		h.mu.Lock()
		h.latest[p.Car] = p
		subscribers := h.byLine[p.Line]
		h.mu.Unlock()
		room = wire.Append(room[:0], &p)
		for _, s := range subscribers {
			if err := s.deliver(room); err != nil {
				h.remove(p.Line, s)
			}
		}
	}
}

// remove forgets a subscriber who has gone.
func (h *Hub) remove(line uint16, gone *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rest []*subscriber
	for _, s := range h.byLine[line] {
		if s != gone {
			rest = append(rest, s)
		}
	}
	h.byLine[line] = rest
	h.count--
	gone.close()
}
