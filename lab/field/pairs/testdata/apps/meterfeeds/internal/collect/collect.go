// Package collect takes frames from substations and books the readings.
package collect

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log"
	"net"
	"sync/atomic"

	"meterfeeds/internal/ledger"
	"meterfeeds/internal/link"
)

// Server accepts the links of substations.
type Server struct {
	Book *ledger.Book
	Key  []byte
	Next bool

	Frames, Refused atomic.Int64
}

func (s *Server) Serve(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			s.receive(conn)
		}()
	}
}

func (s *Server) receive(conn net.Conn) {
	in := link.NewReader(conn, s.Next)
	mac := hmac.New(sha256.New, s.Key)
	var batch []ledger.Reading
	for {
		kind, body, err := in.Next()
		if err != nil {
			return
		}
		if kind == link.KindClock {
			continue
		}
		if len(body) < 8 {
			s.Refused.Add(1)
			continue
		}
		payload, sum := body[:len(body)-8], body[len(body)-8:]
		mac.Reset()
		mac.Write(payload)
		var full [sha256.Size]byte
		if !bytes.Equal(mac.Sum(full[:0])[:8], sum) {
			s.Refused.Add(1)
			continue
		}
		if batch, err = decode(batch[:0], payload); err != nil {
			log.Print(err)
			s.Refused.Add(1)
			continue
		}
		s.Book.Add(batch)
		s.Frames.Add(1)
	}
}

var errShort = errors.New("collect: short payload")

// decode reads pairs of meter number and consumption.
func decode(dst []ledger.Reading, p []byte) ([]ledger.Reading, error) {
	for len(p) > 0 {
		meter, n := binary.Uvarint(p)
		if n <= 0 {
			return dst, errShort
		}
		wh, m := binary.Varint(p[n:])
		if m <= 0 {
			return dst, errShort
		}
		dst = append(dst, ledger.Reading{Meter: meter, Wh: wh})
		p = p[n+m:]
	}
	return dst, nil
}
