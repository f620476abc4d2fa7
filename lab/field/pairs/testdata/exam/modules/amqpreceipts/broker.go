package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"log"
	"net"
	"sync/atomic"
)

// A broker takes messages over AMQP and counts them; it stands for the one of the
// department that wants the receipts.
type broker struct {
	listener net.Listener
	messages atomic.Int64
}

func listen() (*broker, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &broker{listener: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	}()
	return b, nil
}

func (b *broker) url() string { return "amqp://guest:guest@" + b.listener.Addr().String() + "/" }

// answers to methods, by class and method.
var answers = map[uint32][]byte{
	10<<16 | 11: {0, 10, 0, 30, 7, 255, 0, 2, 0, 0, 0, 0}, // start-ok: tune
	10<<16 | 40: {0, 10, 0, 41, 0},                        // open: open-ok
	10<<16 | 50: {0, 10, 0, 51},                           // close: close-ok
	20<<16 | 10: {0, 20, 0, 11, 0, 0, 0, 0},               // channel open: open-ok
	20<<16 | 40: {0, 20, 0, 41},                           // channel close: close-ok
}

func frame(channel uint16, payload []byte) []byte {
	f := append([]byte{1}, byte(channel>>8), byte(channel))
	f = binary.BigEndian.AppendUint32(f, uint32(len(payload)))
	return append(append(f, payload...), 206)
}

func (b *broker) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	if _, err := r.Discard(8); err != nil {
		return
	}
	start := []byte{0, 10, 0, 10, 0, 9, 0, 0, 0, 0}
	for _, s := range []string{"PLAIN", "en_US"} {
		start = append(binary.BigEndian.AppendUint32(start, uint32(len(s))), s...)
	}
	if _, err := conn.Write(frame(0, start)); err != nil {
		return
	}
	head := make([]byte, 7)
	for {
		if _, err := io.ReadFull(r, head); err != nil {
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[3:]))
		if _, err := io.ReadFull(r, payload); err != nil {
			return
		}
		if end, err := r.ReadByte(); err != nil || end != 206 {
			log.Print("frame without end: ", err)
			return
		}
		switch head[0] {
		case 3:
			b.messages.Add(1)
		case 1:
			answer := answers[binary.BigEndian.Uint32(payload)]
			if answer == nil {
				continue
			}
			if _, err := conn.Write(frame(binary.BigEndian.Uint16(head[1:]), answer)); err != nil {
				return
			}
		}
	}
}
