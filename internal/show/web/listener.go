package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// A limitedListener bounds the connections that are open at a time. Who has not asked for
// anything with the secret is a stranger, and makes room for whoever comes next: anyone on
// the machine can connect, and must not keep the page from its reader by doing so.
type limitedListener struct {
	net.Listener
	most int

	mu        sync.Mutex
	closed    sync.Cond // of mu: a connection was
	open      int
	strangers []*limitedConn // who came first is first
}

func limitListener(l net.Listener, most int) *limitedListener {
	limited := &limitedListener{Listener: l, most: most}
	limited.closed.L = &limited.mu
	return limited
}

func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.most {
		if len(l.strangers) == 0 {
			l.closed.Wait()
			continue
		}
		first := l.strangers[0]
		l.mu.Unlock()
		_ = first.Close() // who hears of it has no secret
		l.mu.Lock()
	}
	l.open++
	conn := &limitedConn{Conn: c, of: l}
	l.strangers = append(l.strangers, conn)
	return conn, nil
}

// forget takes a connection off the list of strangers.
func (l *limitedListener) forget(c *limitedConn) {
	l.strangers = slices.DeleteFunc(l.strangers, func(s *limitedConn) bool { return s == c })
}

type limitedConn struct {
	net.Conn
	of   *limitedListener
	once sync.Once
}

func (c *limitedConn) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.open--
		c.of.forget(c)
		c.of.closed.Signal()
	})
	return c.Conn.Close()
}

type connKey struct{}

// withConn lets the answer to a request know its connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// noteReader says that the connection of a request is the reader's.
func noteReader(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.forget(c)
	}
}
