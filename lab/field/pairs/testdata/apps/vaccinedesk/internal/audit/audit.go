// Package audit brings the audit trail to the collector.
package audit

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// Trail is an io.Writer for log handlers.
type Trail struct {
	nc   net.Conn
	ack  [4]byte
	buf  []byte
	in   chan []byte
	done chan error
}

func Dial(addr string, batch bool) (*Trail, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	t := &Trail{nc: nc}
	if batch {
		t.in = make(chan []byte, 4096)
		t.done = make(chan error, 1)
		go func() { t.done <- t.run() }()
	}
	return t, nil
}

func (t *Trail) Write(line []byte) (int, error) {
	if t.in != nil {
		t.in <- append([]byte(nil), line...)
		return len(line), nil
	}
	if err := t.frame(line); err != nil {
		return 0, err
	}
	return len(line), nil
}

// frame sends lines and waits until they are stored.
func (t *Trail) frame(lines []byte) error {
	t.buf = binary.BigEndian.AppendUint32(t.buf[:0], uint32(len(lines)))
	t.buf = append(t.buf, lines...)
	if _, err := t.nc.Write(t.buf); err != nil {
		return err
	}
	_, err := io.ReadFull(t.nc, t.ack[:])
	return err
}

func (t *Trail) run() error {
	var all error
	var lines []byte
	for line := range t.in {
		lines = append(lines[:0], line...)
		for n := len(t.in); n > 0; n-- {
			lines = append(lines, <-t.in...)
		}
		if err := t.frame(lines); err != nil {
			all = errors.Join(all, err)
		}
	}
	return all
}

// Close sends what is left.
func (t *Trail) Close() error {
	var err error
	if t.in != nil {
		close(t.in)
		err = <-t.done
	}
	return errors.Join(err, t.nc.Close())
}
