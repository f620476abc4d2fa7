// Udpmeters collects measurements that come in packets over UDP, several lines in each, and
// logs once a second what they add up to.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"strconv"
	"sync"
	"time"
)

const largest = 512 // bytes of a packet

// A meter is what is known of a name.
type meter struct {
	count, sum, most int64
}

type collector struct {
	conn *net.UDPConn

	mu      sync.Mutex
	meters  map[string]*meter
	packets int
	wrong   int
}

// receive adds up packets until the connection is closed.
func (c *collector) receive() {
	packet := make([]byte, largest)
	for {
		n, _, err := c.conn.ReadFromUDPAddrPort(packet)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			log.Print(err)
			return
		}
		c.add(packet[:n])
	}
}

// add adds the lines of a packet, each of which is name:number.
func (c *collector) add(packet []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packets++
	for len(packet) > 0 {
		var line []byte
		line, packet, _ = bytes.Cut(packet, []byte("\n"))
		name, digits, ok := bytes.Cut(line, []byte(":"))
		v, valid := number(digits)
		if !ok || !valid {
			c.wrong++
			continue
		}
		m := c.meters[string(name)] // which is not copied
		if m == nil {
			m = new(meter)
			c.meters[string(name)] = m
		}
		m.count++
		m.sum += v
		m.most = max(m.most, v)
	}
}

func number(digits []byte) (n int64, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' || n > 1<<40 {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, len(digits) > 0
}

// report logs every second what there was.
func (c *collector) report(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var all meter
		c.mu.Lock()
		names, packets, wrong := len(c.meters), c.packets, c.wrong
		for _, m := range c.meters {
			all.count += m.count
			all.sum += m.sum
			all.most = max(all.most, m.most)
		}
		c.mu.Unlock()
		log.Printf("%d packets, %d names, %d measurements, %d wrong, mean %d, most %d",
			packets, names, all.count, wrong, all.sum/max(all.count, 1), all.most)
	}
}

// A house sends what its meters measured.
type house struct {
	conn   net.Conn
	packet []byte
	names  [200]string
}

func newHouse(addr string, number int) (*house, error) {
	conn, err := net.Dial("udp", addr)
	if err != nil {
		return nil, err
	}
	h := &house{conn: conn, packet: make([]byte, 0, largest)}
	for i := range h.names {
		h.names[i] = fmt.Sprintf("house%d.meter%d:", number, i)
	}
	return h, nil
}

// send sends twenty measurements.
func (h *house) send(n int) error {
	p := h.packet[:0]
	for i := range 20 {
		p = append(p, h.names[(n*20+i)%len(h.names)]...)
		p = strconv.AppendInt(p, int64((n+i*31)%1000), 10)
		p = append(p, '\n')
	}
	h.packet = p
	_, err := h.conn.Write(p)
	return err
}

func main() {
	flag.Parse()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		log.Fatal(err)
	}
	if err := conn.SetReadBuffer(1 << 20); err != nil {
		log.Print(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &collector{conn: conn, meters: map[string]*meter{}}
	var running sync.WaitGroup
	running.Go(c.receive)
	running.Go(func() { c.report(ctx) })
	var houses [4]*house
	for i := range houses {
		if houses[i], err = newHouse(conn.LocalAddr().String(), i); err != nil {
			log.Fatal(err)
		}
		defer houses[i].conn.Close()
	}
	pace(len(houses), func(_ context.Context, w, n int) error { return houses[w].send(n / len(houses)) })
	cancel()
	conn.Close()
	running.Wait()
}
