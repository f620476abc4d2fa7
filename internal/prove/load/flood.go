package load

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Flooding is what came of a flood.
type Flooding struct {
	Target   string           `json:"target"`
	Seconds  float64          `json:"seconds"`
	Sockets  int              `json:"sockets"`
	Sent     int64            `json:"sent"`
	Unsent   int64            `json:"unsent,omitempty"` // that the kernel did not take
	Answered int64            `json:"answered"`
	Codes    map[string]int64 `json:"codes,omitempty"` // of answers, by name
}

// floodPause is how long answers are waited for when all is sent.
const floodPause = 200 * time.Millisecond

// Flood sends queries over UDP as fast as they go, or at a rate, waits for no answer and
// remembers no query: an attacker's load, where DNS measures like a client. Each socket sends
// from a loopback address of its own where the server's is of 127.0.0.0/8, as if from as many
// networks. progress, which may be nil, is called with how many were sent and answered.
func Flood(ctx context.Context, r DNSRequest, sockets int, rate float64, d time.Duration, progress func(sent, answered int64)) (*Flooding, error) {
	p, err := DNS(r)
	if err != nil {
		return nil, err
	}
	if r.TCP {
		return nil, errors.New("a flood is sent over UDP")
	}
	f := &flood{queries: p.(*dnsProtocol).queries}
	defer f.close()
	for range sockets {
		if err := f.open(r.Server); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	begin := time.Now()
	var senders, readers sync.WaitGroup
	for i, c := range f.conns {
		senders.Go(func() { f.send(ctx, c, rate/float64(sockets), float64(i)/float64(sockets), begin) })
		readers.Go(func() { f.receive(c) })
	}
	done := make(chan struct{})
	go func() { senders.Wait(); close(done) }()
	for tick := time.NewTicker(sampling); ; {
		select {
		case <-tick.C:
			if progress != nil {
				progress(f.sent.Load(), f.answered.Load())
			}
			continue
		case <-done:
			tick.Stop()
		}
		break
	}
	took := time.Since(begin)
	time.Sleep(floodPause)
	f.close()
	readers.Wait()
	result := &Flooding{Target: r.Server.String(), Seconds: took.Seconds(), Sockets: sockets, Sent: f.sent.Load(), Unsent: f.unsent.Load(), Answered: f.answered.Load()}
	for code := range f.codes {
		if n := f.codes[code].Load(); n > 0 {
			if result.Codes == nil {
				result.Codes = map[string]int64{}
			}
			result.Codes[rcodeName(code)] = n
		}
	}
	return result, nil
}

// Encode writes it as JSON.
func (f *Flooding) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// String tells it in a line or two.
func (f *Flooding) String() string {
	text := fmt.Sprintf("%d queries sent to %s in %.1f s from %d sockets, %.0f a second\n%d answered (%.1f%%)",
		f.Sent, f.Target, f.Seconds, f.Sockets, float64(f.Sent)/max(f.Seconds, 1e-9), f.Answered, 100*float64(f.Answered)/float64(max(f.Sent, 1)))
	var names []string
	for name := range f.Codes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return int(f.Codes[b] - f.Codes[a]) })
	for i, name := range names {
		text += [...]string{": ", ", "}[min(i, 1)] + fmt.Sprintf("%d %s", f.Codes[name], name)
	}
	if f.Unsent > 0 {
		text += fmt.Sprintf("\n%d more were refused by the kernel", f.Unsent)
	}
	return text + "\n"
}

type flood struct {
	queries                *queries
	conns                  []net.Conn
	once                   sync.Once
	sent, unsent, answered atomic.Int64
	codes                  [16]atomic.Int64
}

func (f *flood) open(server netip.AddrPort) error {
	var d net.Dialer
	if a := server.Addr().Unmap(); a.Is4() {
		n := rand.Uint32()
		from := netip.AddrFrom4([4]byte{127, byte(n), byte(n >> 8), 1 + byte(n>>16)%254})
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	c, err := d.Dial("udp", server.String())
	if err == nil {
		_ = c.(*net.UDPConn).SetReadBuffer(dnsBuffer) // the kernel has a bound of its own
		f.conns = append(f.conns, c)
	}
	return err
}

func (f *flood) close() {
	f.once.Do(func() {
		for _, c := range f.conns {
			c.Close()
		}
	})
}

// At full speed the clock is looked at every floodStep queries, at a rate every
// floodPace.
const (
	floodStep = 32
	floodPace = 10 * time.Millisecond
)

// send sends until ctx ends, never ahead of the rate; 0 is as fast as it goes. phase,
// a part of the time between two queries, keeps sockets from sending all at once.
func (f *flood) send(ctx context.Context, c net.Conn, rate, phase float64, begin time.Time) {
	step := floodStep
	if rate > 0 {
		step = max(1, min(step, int(rate*floodPace.Seconds())))
	}
	var w []byte
	for seq, mine := rand.Int64N(1<<30), 0; ctx.Err() == nil; {
		if rate > 0 {
			due := time.Duration((float64(mine) + phase) / rate * float64(time.Second))
			if nap(ctx, due-time.Since(begin)); ctx.Err() != nil {
				return
			}
		}
		for range step {
			w = append(w[:0], f.queries.packet(seq)...)
			binary.BigEndian.PutUint16(w[prefix:], uint16(seq))
			seq++
			mine++
			if _, err := c.Write(query(w).message()); err != nil {
				f.unsent.Add(1) // as to a server that has just ended
				continue
			}
			f.sent.Add(1)
		}
	}
}

func (f *flood) receive(c net.Conn) {
	buffer := make([]byte, maxAnswer)
	for {
		n, err := c.Read(buffer)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil || n < dnsHeader:
			continue
		}
		f.answered.Add(1)
		f.codes[buffer[3]&0xf].Add(1)
	}
}
