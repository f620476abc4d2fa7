// Package session keeps the links of the lane controllers.
package session

import (
	"bufio"
	"net"
	"strconv"
	"sync"
	"time"

	"tollgates/internal/tariff"
	"tollgates/internal/wire"
)

// Hub knows the current link of each lane. A lane that lost its link may
// come back before the hub has noticed; the newest link wins.
type Hub struct {
	table *tariff.Table
	v2    bool

	mu      sync.Mutex
	current map[string]*Link
}

func NewHub(table *tariff.Table, v2 bool) *Hub {
	return &Hub{table: table, v2: v2, current: make(map[string]*Link)}
}

func (h *Hub) Serve(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go h.handle(conn)
	}
}

func (h *Hub) handle(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	hello, err := wire.Read(r)
	if err != nil || hello.Kind != wire.Hello {
		return
	}
	l := newLink(string(hello.Body), conn)
	h.attach(l)
	defer h.detach(l)
	go l.deliver()

	for {
		f, err := wire.Read(r)
		if err != nil || f.Kind == wire.Bye {
			return
		}
		price := h.table.Quote(string(f.Body))
		if !l.send(wire.Frame{Kind: wire.Price, Body: strconv.AppendInt(nil, int64(price), 10)}) {
			return
		}
	}
}

func (h *Hub) attach(l *Link) {
	h.mu.Lock()
	prev := h.current[l.lane]
	h.current[l.lane] = l
	h.mu.Unlock()
	if prev != nil {
		prev.conn.Close()
	}
}

func (h *Hub) detach(l *Link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	newest := h.current[l.lane] == l
	if newest {
		delete(h.current, l.lane)
	}
	if newest || h.v2 {
		close(l.done)
	}
}

// PublishEvery sends the tariff table to all lanes at an interval.
func (h *Hub) PublishEvery(every time.Duration) {
	for range time.Tick(every) {
		body, err := h.table.Revise()
		if err != nil {
			continue
		}
		h.mu.Lock()
		for _, l := range h.current {
			select {
			case l.out <- wire.Frame{Kind: wire.Push, Body: body}:
			default: // behind, it gets the next one
			}
		}
		h.mu.Unlock()
	}
}
