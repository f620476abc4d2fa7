package headend

import (
	"bufio"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"meterround/internal/link"
)

// A Station knows the meters of a town.
type Station struct {
	air   time.Duration // what a meter's answer takes
	mu    sync.Mutex
	asked map[uint32]int
}

// NewStation makes one.
func NewStation() *Station {
	return &Station{air: 3 * time.Millisecond, asked: map[uint32]int{}}
}

// Serve takes lines until the listener is closed.
func (s *Station) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.converse(c)
	}
}

func (s *Station) converse(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	var out []byte
	for {
		verb, body, err := link.Next(in)
		if err != nil || verb != link.Read || len(body) != 4 {
			return
		}
		verb, body = s.answer(binary.BigEndian.Uint32(body))
		out = link.Append(out[:0], verb, body)
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// answer asks a meter. One in nine was taken down, and one in fifty needs a second call.
func (s *Station) answer(meter uint32) (byte, []byte) {
	if meter%9 == 4 {
		return link.Nak, []byte{link.Unknown}
	}
	time.Sleep(s.air)
	s.mu.Lock()
	s.asked[meter]++
	n := s.asked[meter]
	s.mu.Unlock()
	if meter%50 == 7 && n%2 == 1 {
		return link.Nak, []byte{link.Busy}
	}
	body := binary.BigEndian.AppendUint32(make([]byte, 0, 32), meter)
	body = binary.BigEndian.AppendUint32(body, meter*977%9_000_000)
	for hour := range uint32(12) {
		body = binary.BigEndian.AppendUint16(body, uint16(meter*31+hour*7))
	}
	return link.Value, body
}
