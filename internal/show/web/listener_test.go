package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Strangers that hold all connections, silent or turned away, make room for the reader; the
// reader's own are never closed for others.
func TestStrangersMakeRoom(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	defer func() { end(); <-ended }()

	get := func(c *http.Client) int {
		t.Helper()
		r, err := c.Get(s.URL(l.Addr()))
		if err != nil {
			t.Fatalf("the reader: %v, want an answer", err)
		}
		defer r.Body.Close()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Fatal(err)
		}
		return r.StatusCode
	}
	// A second shorter than what a stranger is given to send a request: whoever waits for
	// that finds room anyway.
	const patience = 9 * time.Second
	reader := &http.Client{Timeout: patience, Transport: &http.Transport{}}
	if code := get(reader); code != http.StatusOK {
		t.Fatalf("the page: %d, want 200", code)
	}
	var kept []net.Conn
	defer func() {
		for _, c := range kept {
			c.Close()
		}
	}()
	for i := range 2 * maxRequests {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, c)
		if i%2 == 0 {
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+l.Addr().String()+"\r\n\r\n") // it may be closed
		}
	}
	if code := get(&http.Client{Timeout: patience, Transport: &http.Transport{}}); code != http.StatusOK {
		t.Errorf("the page beside strangers, on a new connection: %d, want 200", code)
	}
	if code := get(reader); code != http.StatusOK {
		t.Errorf("the page beside strangers, on the old one: %d, want 200", code)
	}
}
