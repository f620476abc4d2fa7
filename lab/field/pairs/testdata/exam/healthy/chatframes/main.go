// Chatframes is a server of chat rooms over connections that stay open, on which frames
// with a length go both ways, and its members.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const largest = 4 << 10 // bytes of a frame

// A room passes the frames of its members on to all of them.
type room struct {
	mu      sync.Mutex
	members []*member
	dropped atomic.Int64
}

// A member is a connection; frames wait in out and are not changed any more.
type member struct {
	conn net.Conn
	out  chan []byte
	done chan struct{}
}

func (r *room) enter(c net.Conn) {
	m := &member{conn: c, out: make(chan []byte, 64), done: make(chan struct{})}
	r.mu.Lock()
	r.members = append(r.members, m)
	r.mu.Unlock()
	go m.write()
	r.read(m)
	r.mu.Lock()
	r.members = slices.DeleteFunc(r.members, func(other *member) bool { return other == m })
	r.mu.Unlock()
	close(m.done)
}

// read passes on what the member says until it leaves.
func (r *room) read(m *member) {
	in := bufio.NewReader(m.conn)
	for {
		head, err := in.Peek(2)
		if err != nil {
			return
		}
		size := int(binary.BigEndian.Uint16(head))
		if size > largest {
			return
		}
		frame := make([]byte, 2+size) // one for all who get it
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		r.send(frame)
	}
}

// send gives a frame to all members, but to those who have too many already.
func (r *room) send(frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		select {
		case m.out <- frame:
		default:
			r.dropped.Add(1)
		}
	}
}

// write sends what waits, and flushes when nothing more does.
func (m *member) write() {
	defer m.conn.Close()
	out := bufio.NewWriter(m.conn)
	for {
		var frame []byte
		select {
		case frame = <-m.out:
		case <-m.done:
			return
		}
		for more := true; more; {
			if _, err := out.Write(frame); err != nil {
				return
			}
			select {
			case frame = <-m.out:
			default:
				more = false
			}
		}
		if out.Flush() != nil {
			return
		}
	}
}

// listen reads frames until the connection is closed.
func listen(c net.Conn, heard *atomic.Int64) {
	in := bufio.NewReader(c)
	for {
		head, err := in.Peek(2)
		if err != nil {
			return
		}
		if _, err := in.Discard(2 + int(binary.BigEndian.Uint16(head))); err != nil {
			return
		}
		heard.Add(1)
	}
}

func main() {
	rooms := flag.Int("rooms", 20, "how many rooms there are")
	size := flag.Int("members", 8, "members of a room")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	all := make([]room, *rooms)
	go func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go all[i%len(all)].enter(c)
		}
	}()
	var heard atomic.Int64
	conns := make([]net.Conn, *rooms**size)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			log.Fatal(err)
		}
		go listen(conns[i], &heard)
	}
	const speakers = 4
	frames := make([][]byte, speakers)
	for i := range frames {
		frames[i] = make([]byte, 2, 256)
	}
	pace(speakers, func(_ context.Context, w, n int) error {
		frame := fmt.Appendf(frames[w][:2], `{"said":"that was number %d","at":%d}`, n, time.Now().UnixMilli())
		binary.BigEndian.PutUint16(frame, uint16(len(frame)-2))
		_, err := conns[n%len(conns)].Write(frame)
		return err
	})
	l.Close()
	for _, c := range conns {
		c.Close()
	}
	log.Printf("%d frames were heard", heard.Load())
}
