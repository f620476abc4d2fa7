package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"
)

// Who only keeps connections open makes room for others, and who asks meanwhile is answered.
func TestConnections(t *testing.T) {
	c := connectionsOf(1)
	c.most = 3
	asked, answer := make(chan bool), make(chan bool)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			asked <- true
			<-answer
		}
	}))
	s.Config.ConnState = c.state
	s.Start()
	defer s.Close()
	dial := func(path string) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		return conn
	}
	read := func(conn net.Conn) error {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		a, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			a.Body.Close()
		}
		return err
	}
	long := dial("/long")
	<-asked
	var idle []net.Conn
	for range 4 {
		conn := dial("/")
		if err := read(conn); err != nil {
			t.Fatalf("beside %d idle ones: %v", len(idle), err)
		}
		idle = append(idle, conn)
		for n := 0; n < min(len(idle), 2); { // the server learns of it after its client
			c.mu.Lock()
			n = 0
			for _, since := range c.idle {
				if !since.IsZero() {
					n++
				}
			}
			c.mu.Unlock()
			runtime.Gosched()
		}
	}
	for i, conn := range idle[:2] { // the fourth and the fifth connection have their places
		if err := read(conn); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("idle connection %d: %v, want it closed", i, err)
		}
	}
	answer <- true
	if err := read(long); err != nil {
		t.Errorf("one in use: %v", err)
	}
	if n := c.closed.Load(); n != 2 {
		t.Errorf("%d closed, want 2", n)
	}
}

// Where each connection is in use, a new one is closed.
func TestConnectionsInUse(t *testing.T) {
	c := connectionsOf(256 << 20)
	if c.most != 2048 || connectionsOf(1).most != leastConnections || connectionsOf(0).most != 0 {
		t.Errorf("%d connections at 256 MiB", c.most)
	}
	c.most = 1
	first, _ := net.Pipe()
	second, end := net.Pipe()
	c.state(first, http.StateNew)
	c.state(second, http.StateNew)
	if _, err := end.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the second: %v", err)
	}
	c.state(second, http.StateClosed)
	if len(c.idle) != 1 {
		t.Errorf("%d are counted", len(c.idle))
	}
}
