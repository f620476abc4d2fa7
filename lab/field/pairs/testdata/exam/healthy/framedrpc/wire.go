package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math"
	"net"
	"sync"
)

// A message is a question or, with y 0, an answer.
type message struct {
	id   uint64
	x, y float64
}

const size = 24

func (m message) put(b []byte) {
	binary.LittleEndian.PutUint64(b, m.id)
	binary.LittleEndian.PutUint64(b[8:], math.Float64bits(m.x))
	binary.LittleEndian.PutUint64(b[16:], math.Float64bits(m.y))
}

func get(b []byte) message {
	return message{binary.LittleEndian.Uint64(b), math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
		math.Float64frombits(binary.LittleEndian.Uint64(b[16:]))}
}

// receive calls f with each message until the connection is closed.
func receive(c net.Conn, f func(message)) {
	in, b := bufio.NewReader(c), make([]byte, size)
	for {
		if _, err := io.ReadFull(in, b); err != nil {
			return
		}
		f(get(b))
	}
}

// transmit writes what comes, and flushes when nothing more waits.
func transmit(c net.Conn, messages <-chan message) {
	defer c.Close()
	out, b := bufio.NewWriter(c), make([]byte, size)
	var err error
	for m := range messages {
		if err != nil {
			continue // nobody shall wait for a connection that is gone
		}
		m.put(b)
		if _, err = out.Write(b); err == nil && len(messages) == 0 {
			err = out.Flush()
		}
		if err != nil {
			c.Close()
		}
	}
}

// serve answers the questions of a connection with so many workers.
func serve(c net.Conn, workers int, answer func(x, y float64) float64) {
	questions, answers := make(chan message, 64), make(chan message, 64)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for q := range questions {
				answers <- message{id: q.id, x: answer(q.x, q.y)}
			}
		})
	}
	go transmit(c, answers)
	receive(c, func(m message) { questions <- m })
	close(questions)
	working.Wait()
	close(answers)
}

// A client has calls under way, each of which waits for the answer with its number.
type client struct {
	out   chan message
	slots sync.Pool

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan float64
}

func newClient(c net.Conn) *client {
	cl := &client{out: make(chan message, 64), waiting: map[uint64]chan float64{},
		slots: sync.Pool{New: func() any { return make(chan float64, 1) }}}
	go transmit(c, cl.out)
	go receive(c, func(m message) {
		if slot := cl.take(m.id); slot != nil {
			slot <- m.x
		}
	})
	return cl
}

func (cl *client) take(id uint64) chan float64 {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	slot := cl.waiting[id]
	delete(cl.waiting, id)
	return slot
}

func (cl *client) call(ctx context.Context, x, y float64) (float64, error) {
	slot := cl.slots.Get().(chan float64)
	cl.mu.Lock()
	cl.last++
	id := cl.last
	cl.waiting[id] = slot
	cl.mu.Unlock()
	select {
	case cl.out <- message{id, x, y}:
	case <-ctx.Done():
		cl.take(id)
		return 0, ctx.Err()
	}
	select {
	case answer := <-slot:
		cl.slots.Put(slot)
		return answer, nil
	case <-ctx.Done():
		cl.take(id) // the answer may be in the slot, which nobody uses again
		return 0, ctx.Err()
	}
}

func (cl *client) close() { close(cl.out) }
