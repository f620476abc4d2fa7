// Package hosts are those who ask.
package hosts

import (
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"zonerelay/internal/message"
)

// A Campus has many hosts behind one socket.
type Campus struct {
	conn     *net.UDPConn
	answered atomic.Int64
}

// A Tally counts questions.
type Tally struct{ Asked, Answered int }

// Dial makes a campus that asks a relay.
func Dial(relay netip.AddrPort) (*Campus, error) {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(relay))
	if err != nil {
		return nil, err
	}
	return &Campus{conn: conn}, nil
}

// Name is the n-th name that is asked for.
func Name(n int) string {
	switch n % 10 {
	case 0, 1, 2, 3:
		return fmt.Sprintf("printer%d.library.campus", n*13%700)
	case 4:
		return fmt.Sprintf("old%d.none.campus", n%5000)
	case 5:
		return fmt.Sprintf("lap%d.dorm.campus", n)
	default:
		return fmt.Sprintf("probe-%08x.far.campus", n*2654435761%(1<<32))
	}
}

// listen counts what was found or is unknown.
func (c *Campus) listen() {
	in := make([]byte, message.MaxSize)
	for {
		n, err := c.conn.Read(in)
		if err != nil {
			return
		}
		if h, _, _, err := message.Split(in[:n]); err == nil && (h.Code == message.Found || h.Code == message.Unknown) {
			c.answered.Add(1)
		}
	}
}

// Ask sends so many questions a second.
func (c *Campus) Ask(rate int, span time.Duration) (Tally, error) {
	go c.listen()
	defer c.conn.Close()
	var name, out []byte
	start := time.Now()
	asked := 0
	for total := int(float64(rate) * span.Seconds()); asked < total; {
		for due := min(total, int(time.Since(start).Seconds()*float64(rate))); asked < due; asked++ {
			name = message.Labels(name[:0], Name(asked))
			out = message.Append(out[:0], message.Header{ID: uint16(asked)}, name, nil)
			if _, err := c.conn.Write(out); err != nil {
				return Tally{}, err
			}
		}
		time.Sleep(3 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	return Tally{asked, int(c.answered.Load())}, nil
}
