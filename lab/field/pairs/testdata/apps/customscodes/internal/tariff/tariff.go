// Package tariff asks the registry for the duty on goods.
package tariff

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Duty is what is due on goods.
type Duty struct {
	PerMille int
	VAT      int
}

type link struct {
	net.Conn
	br *bufio.Reader
}

type site struct {
	addr  string
	mu    sync.Mutex
	idle  []*link
	until time.Time
}

// Client asks the sites of the registry in the order of the settings.
type Client struct {
	sites   []*site
	timeout time.Duration
	rest    time.Duration
}

// New returns a client. A site that did not answer is left alone for rest.
func New(addrs []string, timeout, rest time.Duration) *Client {
	c := &Client{timeout: timeout, rest: rest}
	for _, a := range addrs {
		c.sites = append(c.sites, &site{addr: a})
	}
	return c
}

// Lookup returns the duty for a code and a country of origin.
func (c *Client) Lookup(code, country string) (d Duty, err error) {
	err = errors.New("tariff: no site to ask")
	for _, s := range c.sites {
		if c.rest > 0 && s.resting() {
			continue
		}
		if d, err = s.ask(code, country, c.timeout); err == nil {
			return d, nil
		}
		if c.rest > 0 {
			s.leave(c.rest)
		}
	}
	return d, err
}

func (s *site) resting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until)
}

func (s *site) leave(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(d)
}

func (s *site) get(timeout time.Duration) (*link, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		l := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return l, nil
	}
	s.mu.Unlock()
	c, err := net.DialTimeout("tcp", s.addr, timeout)
	if err != nil {
		return nil, err
	}
	return &link{c, bufio.NewReader(c)}, nil
}

func (s *site) ask(code, country string, timeout time.Duration) (d Duty, err error) {
	l, err := s.get(timeout)
	if err != nil {
		return d, err
	}
	l.SetDeadline(time.Now().Add(timeout))
	if _, err = fmt.Fprintf(l, "%s/%s\n", code, country); err != nil {
		l.Close()
		return d, err
	}
	line, err := l.br.ReadString('\n')
	if err != nil {
		l.Close()
		return d, fmt.Errorf("tariff: %s: %w", s.addr, err)
	}
	s.mu.Lock()
	s.idle = append(s.idle, l)
	s.mu.Unlock()
	_, err = fmt.Sscanf(line, "%d %d", &d.PerMille, &d.VAT)
	return d, err
}
