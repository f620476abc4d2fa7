package policydb

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

var parts = []string{"door", "roof", "windscreen", "bumper", "wing", "axle"}

type server struct{ claims, booked sync.Map }

// Start serves a database with n claims and returns its address.
func Start(n int) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := new(server)
	for i := range n {
		s.claims.Store(fmt.Sprint(i), fmt.Sprintf("P-%06d %s %d", i*7%1000, parts[i%len(parts)], i%90))
	}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go s.serve(nc)
		}
	}()
	return ln.Addr().String(), nil
}

func (s *server) serve(nc net.Conn) {
	defer nc.Close()
	in := bufio.NewScanner(nc)
	for in.Scan() {
		time.Sleep(300 * time.Microsecond) // storage
		fmt.Fprintln(nc, s.answer(strings.Fields(in.Text())))
	}
}

func (s *server) answer(f []string) string {
	switch {
	case len(f) == 2 && f[0] == "CLAIM":
		claim, _ := s.claims.Load(f[1])
		return fmt.Sprint("OK ", claim)
	case len(f) == 3 && f[0] == "BOOK":
		s.booked.Store(f[1], f[2])
		return "OK"
	case len(f) == 1:
		return "OK"
	}
	return "ERR syntax"
}
