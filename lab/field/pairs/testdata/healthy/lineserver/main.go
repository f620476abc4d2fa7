// Lineserver is a store of words behind a protocol of lines, and clients that use it.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
)

type store struct {
	mu    sync.RWMutex
	words map[string]string
}

func (s *store) serve(c net.Conn) {
	defer c.Close()
	in, out := bufio.NewScanner(c), bufio.NewWriter(c)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "set":
			k, v, _ := strings.Cut(rest, " ")
			s.mu.Lock()
			s.words[k] = v
			s.mu.Unlock()
			fmt.Fprintln(out, "ok")
		case "get":
			s.mu.RLock()
			v := s.words[rest]
			s.mu.RUnlock()
			fmt.Fprintln(out, v)
		default:
			fmt.Fprintln(out, "what?")
		}
		if out.Flush() != nil {
			return
		}
	}
}

func main() {
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s := &store{words: map[string]string{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	in, out := bufio.NewReader(c), bufio.NewWriter(c)
	const batch = 16
	pace(func(n int) error { // a batch of questions goes out at once
		for i := range batch {
			if i%8 == 0 {
				fmt.Fprintf(out, "set k%d v%d\n", (n+i)%999, n)
			} else {
				fmt.Fprintf(out, "get k%d\n", (n*31+i)%999)
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		for range batch {
			if _, err := in.ReadSlice('\n'); err != nil {
				return err
			}
		}
		return nil
	})
}
