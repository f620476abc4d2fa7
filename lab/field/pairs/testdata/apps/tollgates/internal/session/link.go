package session

import (
	"bufio"
	"net"

	"tollgates/internal/wire"
)

// Link is one connection of one lane.
type Link struct {
	lane string
	conn net.Conn
	out  chan wire.Frame
	done chan struct{}
}

func newLink(lane string, conn net.Conn) *Link {
	return &Link{lane: lane, conn: conn, out: make(chan wire.Frame, 32), done: make(chan struct{})}
}

// deliver writes what is queued for the lane.
func (l *Link) deliver() {
	w := bufio.NewWriterSize(l.conn, 8<<10)
	for {
		select {
		case <-l.done:
			return
		case f := <-l.out:
			if err := wire.Write(w, f); err != nil {
				continue
			}
			if len(l.out) == 0 {
				w.Flush()
			}
		}
	}
}

func (l *Link) send(f wire.Frame) bool {
	select {
	case l.out <- f:
		return true
	case <-l.done:
		return false
	}
}
