// Parceldials takes the scans of parcels over UDP and passes them on to a tracker,
// which speaks lines over TCP.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"net"
	"time"
)

// tracker is the other side, which acknowledges each scan.
func tracker() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	seen := func(c net.Conn) {
		defer c.Close()
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if _, err := fmt.Fprintf(c, "seen %s\n", lines.Text()); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go seen(c)
		}
	}()
	return l.Addr().String(), nil
}

type relay struct {
	tracker string
	keep    bool
	conn    net.Conn
	in      *bufio.Reader
}

func (r *relay) connect() error {
	c, err := net.DialTimeout("tcp", r.tracker, time.Second)
	if err != nil {
		return err
	}
	r.conn, r.in = c, bufio.NewReader(c)
	return nil
}

// pass tells the tracker of a scan.
func (r *relay) pass(scan []byte) error {
	if r.conn == nil {
		if err := r.connect(); err != nil {
			return err
		}
	}
	_, err := r.conn.Write(append(bytes.TrimSpace(scan), '\n'))
	if err == nil {
		_, err = r.in.ReadSlice('\n')
	}
	if err != nil || !r.keep {
		r.conn.Close()
		r.conn = nil
	}
	return err
}

func (r *relay) serve(c *net.UDPConn, scans int) error {
	buf := make([]byte, 1500)
	for range scans {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if err != nil {
			return err
		}
		if err := r.pass(buf[:n]); err != nil {
			return err
		}
		if _, err := c.WriteToUDPAddrPort([]byte("ok"), from); err != nil {
			return err
		}
	}
	return nil
}

// scanner is a gate that parcels go through.
func scanner(addr string) error {
	c, err := net.Dial("udp", addr)
	if err != nil {
		return err
	}
	for i, buf := 0, make([]byte, 16); ; i++ {
		if _, err := fmt.Fprintf(c, "parcel %08d gate %d", i*7919, i%12); err != nil {
			return err
		}
		if _, err := c.Read(buf); err != nil {
			return err
		}
	}
}

func main() {
	each := flag.Bool("each", false, "dial for each scan")
	scans := flag.Int("scans", 10000, "how many scans are taken")
	flag.Parse()
	addr, err := tracker()
	if err != nil {
		log.Fatal(err)
	}
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(scanner(c.LocalAddr().String())) }()
	r := &relay{tracker: addr, keep: !*each}
	if err := r.serve(c, *scans); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", *scans)
}
