// Package relay hands the keepers' readings to the depot, in order, over one connection.
package relay

import (
	"bufio"
	"context"
	"errors"
	"net"

	"lockkeepers/internal/wire"
)

// Options are the settings of a relay.
type Options struct {
	// Window is how many readings may be on their way.
	Window int
}

// Relay is the connection to the depot.
type Relay struct {
	conn  net.Conn
	queue chan *submission
	sent  chan *submission
	slots chan struct{}
}

type submission struct {
	body []byte
	done chan error
}

var errOrder = errors.New("relay: confirmations out of order")

// Dial connects to the depot.
func Dial(addr string, o Options) (*Relay, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	window := max(o.Window, 1)
	r := &Relay{
		conn:  c,
		queue: make(chan *submission, 64),
		sent:  make(chan *submission, window),
		slots: make(chan struct{}, window),
	}
	go r.send()
	go r.confirm()
	return r, nil
}

// Submit hands over a reading and returns when the depot has confirmed it.
func (r *Relay) Submit(ctx context.Context, body []byte) error {
	s := &submission{body: body, done: make(chan error, 1)}
	select {
	case r.queue <- s:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-s.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the relay after the last reading.
func (r *Relay) Close() error {
	close(r.queue)
	return r.conn.Close()
}

func (r *Relay) send() {
	defer close(r.sent)
	var number uint64
	var out []byte
	for s := range r.queue {
		r.slots <- struct{}{}
		number++
		out = wire.Append(out[:0], number, s.body)
		if _, err := r.conn.Write(out); err != nil {
			s.done <- err
			<-r.slots
			continue
		}
		r.sent <- s
	}
}

func (r *Relay) confirm() {
	in := bufio.NewReader(r.conn)
	var expect uint64
	for s := range r.sent {
		expect++
		number, _, err := wire.Read(in)
		if err == nil && number != expect {
			err = errOrder
		}
		s.done <- err
		<-r.slots
	}
}
