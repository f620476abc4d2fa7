// Package replica is one of the machines that keep the notes.
package replica

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"
)

// Server stores what it is sent and answers with the sum.
type Server struct {
	Addr   string
	Stored atomic.Int64
	ln     net.Listener
}

// Serve starts a server on a free port.
func Serve() (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: ln.Addr().String(), ln: ln}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s, nil
}

func (s *Server) serve(c net.Conn) {
	defer c.Close()
	br := bufio.NewReaderSize(c, 8<<10)
	var head, sum [4]byte
	buf := make([]byte, 64<<10)
	for {
		if _, err := io.ReadFull(br, head[:]); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(head[:])
		if int(n) > len(buf) {
			return
		}
		if _, err := io.ReadFull(br, buf[:n]); err != nil {
			return
		}
		disc := 1500 * time.Microsecond
		if rand.IntN(14) == 0 { // the disc is tidying up
			disc = 22 * time.Millisecond
		}
		time.Sleep(disc)
		s.Stored.Add(1)
		binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE(buf[:n]))
		if _, err := c.Write(sum[:]); err != nil {
			return
		}
	}
}
