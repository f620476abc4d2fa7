// Package relp is a stand-in for the log collector: it confirms each frame when
// it has stored it.
package relp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"time"
)

type Collector struct {
	ln    net.Listener
	lines atomic.Int64
}

func Listen() (*Collector, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Collector{ln: ln}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go c.serve(nc)
		}
	}()
	return c, nil
}

func (c *Collector) Addr() string { return c.ln.Addr().String() }
func (c *Collector) Close() error { return c.ln.Close() }
func (c *Collector) Lines() int64 { return c.lines.Load() }

func (c *Collector) serve(nc net.Conn) {
	defer nc.Close()
	r := bufio.NewReader(nc)
	var head [4]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(r, frame); err != nil {
			return
		}
		time.Sleep(500 * time.Microsecond)
		c.lines.Add(int64(bytes.Count(frame, []byte{'\n'})))
		if _, err := nc.Write(head[:]); err != nil {
			return
		}
	}
}
