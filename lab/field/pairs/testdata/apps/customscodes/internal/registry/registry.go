// Package registry is the tariff registry: three sites that answer the same questions over TCP.
package registry

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"net"
	"strings"
	"time"
)

// Site is one of the registry's sites.
type Site struct {
	ln      net.Listener
	latency time.Duration
	mute    bool
}

// Open starts a site. A mute one accepts connections but its back end is gone.
func Open(latency time.Duration, mute bool) (*Site, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Site{ln: ln, latency: latency, mute: mute}
	go s.accept()
	return s, nil
}

// Addr returns the address of the site.
func (s *Site) Addr() string { return s.ln.Addr().String() }

func (s *Site) accept() {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		go s.serve(c)
	}
}

func (s *Site) serve(c net.Conn) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		q, err := br.ReadString('\n')
		if err != nil {
			return
		}
		if s.mute {
			continue
		}
		time.Sleep(s.latency)
		h := crc32.ChecksumIEEE([]byte(strings.TrimSpace(q)))
		if _, err := fmt.Fprintf(c, "%d %d\n", h%180, 19+h%3); err != nil {
			return
		}
	}
}
