package main

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"
)

// networks are programs that wait for peers.
var networks = []program{
	{"dial-stuck", "one dials with the lock, and the peer never answers", func() error {
		address, err := crowded()
		if err != nil {
			return err
		}
		crowd(30, (&client{address: address, patience: time.Hour}).call)
		return nil
	}},
	{"dial-slow", "each dials with the lock, until it gives up", func() error {
		address, err := crowded()
		if err != nil {
			return err
		}
		crowd(30, (&client{address: address, patience: 200 * time.Millisecond}).call)
		return nil
	}},
	{"dial-fine", "each dials with the lock now and then, and the peer is near", func() error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go hangUp(l)
		go every(100*time.Millisecond, (&client{address: l.Addr().String(), patience: time.Second}).call)
		return nil
	}},
	{"peer-stuck", "one reads with the lock from a peer who says nothing", func() error {
		ours, theirs, err := connected()
		if err != nil {
			return err
		}
		peers = append(peers, theirs)
		crowd(30, (&session{conn: ours}).exchange)
		return nil
	}},
	{"read-fine", "a hundred connections, and nobody says much", func() error {
		for range 100 {
			ours, theirs, err := connected()
			if err != nil {
				return err
			}
			go listen(ours)
			go every(time.Second, func() { theirs.Write([]byte("hello")) })
		}
		return nil
	}},
}

// peers are connections that must not be closed when nobody knows them any more.
var peers []net.Conn

// crowded returns the address of a server whose queue is full: who dials it gets no answer.
func crowded() (address string, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", err
	}
	if err := syscall.Listen(fd, 0); err != nil {
		return "", err
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return "", err
	}
	server := net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.(*syscall.SockaddrInet4).Port}
	for { // until there is no more room
		c, err := net.DialTimeout("tcp", server.String(), 50*time.Millisecond)
		if err != nil {
			return server.String(), nil
		}
		peers = append(peers, c)
	}
}

// A client has one connection for all.
type client struct {
	mu       sync.Mutex
	address  string
	patience time.Duration
}

func (c *client) call() {
	c.mu.Lock() // want cause dial-stuck dial-slow
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.address) // want holder dial-stuck dial-slow
	if err == nil {
		conn.Close()
	}
}

func hangUp(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

// connected returns two ends of a connection.
func connected() (ours, theirs net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if ours, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	theirs, err = l.Accept()
	return ours, theirs, err
}

// A session is used by one after the other.
type session struct {
	mu   sync.Mutex
	conn net.Conn
}

func (s *session) exchange() {
	s.mu.Lock() // want cause peer-stuck
	defer s.mu.Unlock()
	s.conn.Write([]byte("ping"))
	s.receive() // want holder peer-stuck
}

func (s *session) receive() {
	s.conn.Read(make([]byte, 4)) // want holder peer-stuck
}

func listen(c net.Conn) {
	for b := make([]byte, 100); ; steps.Add(1) {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}
