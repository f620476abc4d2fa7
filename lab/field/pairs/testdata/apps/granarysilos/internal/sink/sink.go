// Package sink writes graded deliveries to the offices of the silos.
package sink

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// Row is what an office keeps.
type Row struct {
	Offset int64   `json:"offset"`
	Farm   string  `json:"farm"`
	Class  string  `json:"class"`
	Dry    float64 `json:"dry"`
}

// Office is a connection to one office.
type Office struct {
	conn net.Conn
	r    *bufio.Reader
}

// Dial connects to an office.
func Dial(addr string) (*Office, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Office{conn: c, r: bufio.NewReader(c)}, nil
}

// Store sends rows and waits for the receipt.
func (o *Office) Store(rows []Row) error {
	b, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if _, err := o.conn.Write(append(b, '\n')); err != nil {
		return err
	}
	_, err = o.r.ReadString('\n')
	return err
}

// Serve runs an office which takes some time to store rows.
func Serve(takes time.Duration) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go office(c, takes)
		}
	}()
	return ln.Addr().String(), nil
}

func office(c net.Conn, takes time.Duration) {
	defer c.Close()
	dec := json.NewDecoder(c)
	for {
		var rows []Row
		if dec.Decode(&rows) != nil {
			return
		}
		time.Sleep(takes)
		if _, err := fmt.Fprintf(c, "stored %d\n", len(rows)); err != nil {
			return
		}
	}
}
