package main

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// servers answer requests, whose clients are in the same process.
var servers = []program{
	{"handler-stuck", "a handler has the lock and waits for ever, and all others wait for it", func() error {
		o := &orderBook{mail: make(chan bool)}
		return serve(o.confirm, func(get func()) { crowd(20, get) })
	}},
	{"handler-slow", "each handler has the lock while it asks a backend", func() error {
		o := new(orderBook)
		return serve(o.order, func(get func()) { crowd(20, get) })
	}},
	{"handler-fine", "some requests a second, on connections that are kept", func() error {
		o := new(orderBook)
		return serve(o.list, func(get func()) {
			for range 20 {
				go every(100*time.Millisecond, get)
			}
		})
	}},
	{"server-fine", "a server without clients", func() error {
		return serve(new(orderBook).list, func(func()) {})
	}},
	{"longpoll-fine", "50 clients wait for news, which come now and then", func() error {
		n := &newsroom{changed: make(chan struct{})}
		go every(500*time.Millisecond, n.publish)
		return serve(n.next, func(get func()) { crowd(50, get) })
	}},
}

// serve starts a server, and clients that get what it has.
func serve(handler http.HandlerFunc, clients func(get func())) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, handler)
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	clients(func() {
		answer, err := c.Get("http://" + l.Addr().String())
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	})
	return nil
}

// An orderBook takes orders, one after the other.
type orderBook struct {
	mu     sync.Mutex
	orders int
	mail   chan bool
}

func (o *orderBook) confirm(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock() // want cause handler-stuck
	defer o.mu.Unlock()
	o.orders++
	<-o.mail // want holder handler-stuck
	io.WriteString(w, "confirmed")
}

func (o *orderBook) order(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock() // want cause handler-slow
	defer o.mu.Unlock()
	o.orders++
	o.charge() // want holder handler-slow
	io.WriteString(w, "ordered")
}

// charge is a backend.
func (o *orderBook) charge() {
	time.Sleep(60 * time.Millisecond) // want holder handler-slow
}

func (o *orderBook) list(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	o.orders++
	o.mu.Unlock()
	io.WriteString(w, "none")
}

// A newsroom wakes all who wait for news.
type newsroom struct {
	mu      sync.Mutex
	changed chan struct{}
}

func (n *newsroom) publish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.changed)
	n.changed = make(chan struct{})
}

func (n *newsroom) next(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	changed := n.changed
	n.mu.Unlock()
	select {
	case <-changed:
		io.WriteString(w, "news")
	case <-r.Context().Done():
	}
}
