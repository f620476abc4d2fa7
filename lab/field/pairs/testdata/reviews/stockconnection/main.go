// Stockconnection answers for prices of shares, which an exchange knows; the exchange
// speaks lines over TCP and answers each connection in order.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// exchange stands for the other side.
func exchange() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go answer(c)
		}
	}()
	return l.Addr().String(), nil
}

func answer(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for n := 1; lines.Scan(); n++ {
		think := time.Millisecond
		if n%20 == 0 {
			think = 60 * time.Millisecond // the history of a share
		}
		time.Sleep(think)
		fmt.Fprintf(c, "%s %d.%02d\n", lines.Text(), n%300, n%100)
	}
}

// A line is a connection to the exchange.
type line struct {
	net.Conn
	in *bufio.Reader
	mu sync.Mutex
}

func (l *line) ask(share string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := fmt.Fprintln(l, share); err != nil {
		return "", err
	}
	return l.in.ReadString('\n')
}

type lines struct {
	free chan *line
	only *line
}

func dial(addr string, n int) (*lines, error) {
	out := &lines{free: make(chan *line, n)}
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, err
		}
		out.only = &line{Conn: c, in: bufio.NewReader(c)}
		out.free <- out.only
	}
	return out, nil
}

func (o *lines) price(share string) (string, error) {
	if share == "" || strings.ContainsAny(share, "\r\n") {
		return "", errors.New("no share")
	}
	if cap(o.free) == 1 {
		return o.only.ask(share)
	}
	l := <-o.free
	defer func() { o.free <- l }()
	return l.ask(share)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	connections := flag.Int("connections", 32, "how many connections to the exchange")
	flag.Parse()
	other, err := exchange()
	if err != nil {
		log.Fatal(err)
	}
	o, err := dial(other, *connections)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /price", func(w http.ResponseWriter, r *http.Request) {
		p, err := o.price(r.FormValue("share"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, p)
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
