// Package link speaks with the wall displays: framed pages, each acknowledged when it is painted.
package link

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"time"
)

// Link is the connection to one display.
type Link struct {
	conn net.Conn
	w    *bufio.Writer
}

// Dial connects to a display.
func Dial(addr string) (*Link, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Link{conn: c, w: bufio.NewWriter(c)}, nil
}

// Show sends a page and waits for its acknowledgement.
func (l *Link) Show(page []byte) error {
	l.conn.SetDeadline(time.Now().Add(5 * time.Second))
	l.w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(page))))
	l.w.Write(page)
	if err := l.w.Flush(); err != nil {
		return err
	}
	var ack [4]byte
	_, err := io.ReadFull(l.conn, ack[:])
	return err
}

// Serve is the display's side; paint is the time its panel takes for a page.
func Serve(ln net.Listener, paint time.Duration) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go display(c, paint)
	}
}

func display(c net.Conn, paint time.Duration) {
	defer c.Close()
	r := bufio.NewReader(c)
	var head [4]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint32(head[:]))
		if n > cap(buf) {
			buf = make([]byte, n)
		}
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return
		}
		time.Sleep(paint)
		if _, err := c.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(buf[:n]))); err != nil {
			return
		}
	}
}
