package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
)

// pipes is a listener without a network, for clients in a bubble of time.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.conns) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// sent returns what a client is answered that announces a body, sends the begin of it at once and
// the rest a byte a second, and after how long. Of one that ends early it is "".
func (p *pipes) sent(announced, atOnce int, length bool) (status string, took time.Duration) {
	client, server := net.Pipe()
	defer client.Close()
	p.conns <- server
	begin := time.Now()
	how, part := fmt.Sprintf("Content-Length: %d", announced), func(n int) string { return strings.Repeat("x", n) }
	if !length {
		how, part = "Transfer-Encoding: chunked", func(n int) string { return fmt.Sprintf("%x\r\n%s\r\n", n, strings.Repeat("x", n)) }
	}
	go func() {
		io.WriteString(client, "POST /ingest HTTP/1.1\r\nHost: localhost\r\n"+how+"\r\n\r\n")
		for n := 0; n < announced; {
			more := 1
			if n == 0 {
				more = max(1, atOnce)
			}
			if _, err := io.WriteString(client, part(more)); err != nil {
				return
			}
			if n += more; n < announced {
				time.Sleep(time.Second)
			}
		}
		if !length {
			io.WriteString(client, "0\r\n\r\n")
		}
	}()
	a, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		return err.Error(), time.Since(begin)
	}
	io.Copy(io.Discard, a.Body)
	return a.Status, time.Since(begin)
}

// granted returns how much of a pool is granted.
func granted(p *memory.Pool) (n int64) {
	var b strings.Builder
	memory.Metrics(&b, p)
	for line := range strings.Lines(b.String()) {
		fmt.Sscanf(line, "gowhy_fleet_memory_granted_bytes{for=\"x\"} %d", &n)
	}
	return n
}

// TestSlowBodies has clients that announce much and send little. They have memory for what
// they sent, and not for long, and keep out nobody.
func TestSlowBodies(t *testing.T) {
	const size = 40 << 20
	for _, c := range []struct {
		what              string
		clients           int
		announced, atOnce int
		length            bool
		most              int64 // granted, at most
		until             time.Duration
	}{
		{"much is announced", 40, 8 << 20, 1, true, 40 * (least + copies*head), 7 * time.Second}, // some wait for the memory of others
		{"the head comes, and nothing else", 40, 8 << 20, head, true, size, 13 * time.Second},
		{"the length is unknown", 40, 8 << 20, 1, false, 40 * (least + copies*(64<<10)), 11 * time.Second},
		{"small ones", 40, 10_000, 1, true, 40 * (least + copies*10_000), 11 * time.Second},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				room := Room{memory.NewPool("x", size/8, 3*time.Second), memory.NewPool("x", size, 3*time.Second).KeepForSmall(size / 8), time.Minute}
				in := &pipes{conns: make(chan net.Conn)}
				server := &http.Server{ReadTimeout: time.Minute, Handler: Admit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := Body(w, r, 16<<20); err != nil {
						w.WriteHeader(StatusOf(err))
					}
				}), room, 16<<20)}
				go server.Serve(in)
				var all sync.WaitGroup
				for range c.clients {
					all.Go(func() {
						status, took := in.sent(c.announced, c.atOnce, c.length)
						if status != "408 Request Timeout" && status != "429 Too Many Requests" || took > c.until {
							t.Errorf("a slow one: %s after %v", status, took)
						}
					})
				}
				time.Sleep(1500 * time.Millisecond)
				if n := granted(room.Heads) + granted(room.Bodies); n > c.most {
					t.Errorf("%d bytes are granted, more than %d", n, c.most)
				}
				// Others are served meanwhile: those of an SDK, and one of a megabyte.
				for _, n := range []int{10_000, head, 700_000} {
					if status, took := in.sent(n, n, true); status != "200 OK" || took > 3*time.Second {
						t.Errorf("%d bytes beside them: %s after %v", n, status, took)
					}
				}
				all.Wait()
				time.Sleep(time.Second) // the server closes after half of one
				if n := granted(room.Heads) + granted(room.Bodies); n != 0 {
					t.Errorf("%d bytes are not given back", n)
				}
				server.Close()
				in.Close()
			})
		})
	}
}

// A client of a slow network is no attack: what comes within the time is kept.
func TestSlowNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := memory.NewPool("x", 1<<20, time.Second)
		in := &pipes{conns: make(chan net.Conn)}
		var got []byte
		server := &http.Server{ReadTimeout: time.Minute, Handler: Admit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var err error
			if got, err = Body(w, r, 1<<20); err != nil {
				w.WriteHeader(StatusOf(err))
			}
			// The server still sees that its client is there, long after a body may come.
			time.Sleep(2 * time.Minute)
			if err := r.Context().Err(); err != nil {
				t.Errorf("after the body: %v", err)
			}
		}), Room{pool, pool, time.Minute}, 1<<20)}
		go server.Serve(in)
		for _, atOnce := range []int{1, 40} {
			if status, took := in.sent(40, atOnce, true); status != "200 OK" || len(got) != 40 {
				t.Errorf("%s after %v, %d bytes", status, took, len(got))
			}
		}
		if err := pool.Holds(2 << 20); !errors.Is(err, memory.ErrLarge) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		server.Close()
		in.Close()
	})
}
