package tunnel

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

var rooms = sync.Pool{New: func() any {
	b := make([]byte, 8<<10)
	return &b
}}

// A meter counts what is written.
type meter struct {
	io.Writer
	count *atomic.Int64
}

func (m meter) Write(b []byte) (int, error) {
	n, err := m.Writer.Write(b)
	m.count.Add(int64(n))
	return n, err
}

// A source is only what is read from.
type source struct{ io.Reader }

// stream carries what comes from one side to the other.
func (t *Tunnel) stream(to, from *net.TCPConn, count *atomic.Int64) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	_, _ = io.CopyBuffer(meter{to, count}, source{from}, *room)
	if t.opt.HalfClose {
		_ = to.CloseWrite()
		_ = to.SetReadDeadline(time.Now().Add(t.opt.Linger))
	}
}
