// Package screens show positions to those who wait.
package screens

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"tramfeed/internal/wire"
)

// A Site is where a screen hangs.
type Site struct {
	read  int           // bytes that its link takes at a time
	pause time.Duration // between two of these
	count bool
}

// The sites: a depot is connected by radio.
var (
	Stop  = Site{read: 4096, count: true}
	Depot = Site{read: 320, pause: 80 * time.Millisecond}
)

// A Wall has screens.
type Wall struct {
	Addr  string
	shown atomic.Int64
}

// A link delivers bytes as they come over the site's connection.
type link struct {
	net.Conn
	site Site
}

func (l link) Read(b []byte) (int, error) {
	if l.site.pause > 0 {
		time.Sleep(l.site.pause)
	}
	return l.Conn.Read(b[:min(len(b), l.site.read)])
}

// Hang subscribes a screen to a line.
func (w *Wall) Hang(line int, site Site) error {
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.Dial("tcp", w.Addr)
	if err != nil {
		return err
	}
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "line %d\n", line); err != nil {
		return err
	}
	go w.show(link{c, site}, site.count)
	return nil
}

func (w *Wall) show(r io.ReadCloser, count bool) {
	defer r.Close()
	in := bufio.NewReader(r)
	var p wire.Position
	var buf []byte
	var err error
	for {
		if buf, err = wire.Read(in, buf, &p); err != nil {
			return
		}
		if count {
			w.shown.Add(1)
		}
	}
}

// Await waits until n positions were shown at stops.
func (w *Wall) Await(n int, patience time.Duration) int {
	for end := time.Now().Add(patience); time.Now().Before(end) && w.shown.Load() < int64(n); {
		time.Sleep(5 * time.Millisecond)
	}
	return int(w.shown.Load())
}
