// Package relay stands between those who ask and the authority.
package relay

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"zonerelay/internal/message"
)

// Options of a relay.
type Options struct {
	Patience time.Duration
	Cache    int
}

// A Relay passes questions on.
type Relay struct {
	front, back *net.UDPConn
	zone        netip.AddrPort
	opt         Options

	mu      sync.Mutex
	flights map[string]*flight
	answers *answers
	serial  uint16
}

// Listen opens the sockets of a relay to the zone.
func Listen(addr string, zone netip.AddrPort, opt Options) (*Relay, error) {
	front, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return nil, err
	}
	back, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		front.Close()
		return nil, err
	}
	return &Relay{
		front: front.(*net.UDPConn), back: back.(*net.UDPConn), zone: zone, opt: opt,
		flights: map[string]*flight{}, answers: newAnswers(opt.Cache),
	}, nil
}

// Addr is where to ask.
func (r *Relay) Addr() netip.AddrPort { return r.front.LocalAddr().(*net.UDPAddr).AddrPort() }

// Start begins to serve.
func (r *Relay) Start() {
	go r.questions()
	go r.replies()
	if r.opt.Patience > 0 {
		go r.review()
	}
}

// Close ends it.
func (r *Relay) Close() {
	r.front.Close()
	r.back.Close()
}

// questions reads what hosts ask.
func (r *Relay) questions() {
	in := make([]byte, message.MaxSize)
	var out []byte
	for {
		n, from, err := r.front.ReadFromUDPAddrPort(in)
		if err != nil {
			return
		}
		h, name, _, err := message.Split(in[:n])
		if err != nil || h.Code != message.Question {
			continue
		}
		var to netip.AddrPort
		if out, to = r.ask(out[:0], h, name, from); len(out) == 0 {
			continue
		}
		conn := r.front
		if to == r.zone {
			conn = r.back
		}
		_, _ = conn.WriteToUDPAddrPort(out, to)
	}
}

// ask returns what is to be sent for a question, and to whom: nothing if somebody has
// asked the same.
func (r *Relay) ask(out []byte, h message.Header, name []byte, from netip.AddrPort) ([]byte, netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if packet := r.answers.get(name); packet != nil {
		out = append(out, packet...)
		message.SetID(out, h.ID)
		return out, from
	}
	w := waiter{from, h.ID}
	if f := r.flights[string(name)]; f != nil {
		f.waiters = append(f.waiters, w)
		return nil, from
	}
	r.serial++
	f := newFlight(r.serial, w)
	f.packet = message.Append(f.packet, message.Header{ID: r.serial}, name, nil)
	r.flights[string(name)] = f
	return append(out, f.packet...), r.zone
}

// replies reads what the authority answers and passes it on to all who wait.
func (r *Relay) replies() {
	in := make([]byte, message.MaxSize)
	for {
		n, from, err := r.back.ReadFromUDPAddrPort(in)
		if err != nil {
			return
		}
		h, name, _, err := message.Split(in[:n])
		if err != nil || from != r.zone {
			continue
		}
		r.mu.Lock()
		f := r.flights[string(name)]
		if f == nil || f.id != h.ID {
			r.mu.Unlock()
			continue
		}
		delete(r.flights, string(name))
		f.packet = append(f.packet[:0], in[:n]...)
		r.answers.put(name, f.packet)
		r.mu.Unlock()
		r.deliver(f)
	}
}

// deliver sends the answer of a flight.
func (r *Relay) deliver(f *flight) {
	packet := append([]byte(nil), f.packet...)
	for _, w := range f.waiters {
		message.SetID(packet, w.id)
		_, _ = r.front.WriteToUDPAddrPort(packet, w.from)
	}
}

// review ends the flights whose time is over.
func (r *Relay) review() {
	for now := range time.Tick(r.opt.Patience / 4) {
		var over []*flight
		r.mu.Lock()
		for name, f := range r.flights {
			if now.Sub(f.since) > r.opt.Patience {
				delete(r.flights, name)
				f.packet = message.Append(f.packet[:0], message.Header{Code: message.Failure}, []byte(name), nil)
				over = append(over, f)
			}
		}
		r.mu.Unlock()
		for _, f := range over {
			r.deliver(f)
		}
	}
}
