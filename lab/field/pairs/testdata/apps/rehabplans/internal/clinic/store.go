// Package clinic reads patients and orders out of the database.
package clinic

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
)

type Order struct {
	Therapy string
	Minutes int
}

type conn struct {
	nc net.Conn
	r  *bufio.Reader
}

// Store holds the connections to the database.
type Store struct{ idle chan *conn }

func Open(addr string, size int) (*Store, error) {
	s := &Store{idle: make(chan *conn, size)}
	for range size {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, err
		}
		s.idle <- &conn{nc: nc, r: bufio.NewReader(nc)}
	}
	return s, nil
}

// Work is a unit of work with a consistent view. It must be ended with End,
// which may be called more than once.
type Work struct {
	s *Store
	c *conn
}

func (s *Store) Begin() *Work { return &Work{s: s, c: <-s.idle} }

func (w *Work) End() {
	if w.c != nil {
		w.s.idle <- w.c
		w.c = nil
	}
}

func (w *Work) query(q string, arg int) ([][]string, error) {
	if _, err := fmt.Fprintf(w.c.nc, "%s %d\n", q, arg); err != nil {
		return nil, err
	}
	var rows [][]string
	for {
		line, err := w.c.r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "." {
			return rows, nil
		}
		rows = append(rows, strings.Split(line, "|"))
	}
}

// Patient gives name and focus of a patient.
func (w *Work) Patient(id int) (name, focus string, err error) {
	rows, err := w.query("patient", id)
	if err != nil || len(rows) != 1 {
		return "", "", fmt.Errorf("patient %d: %d rows, %v", id, len(rows), err)
	}
	return rows[0][1], rows[0][2], nil
}

func (w *Work) Orders(id int) ([]Order, error) {
	rows, err := w.query("orders", id)
	if err != nil {
		return nil, err
	}
	out := make([]Order, len(rows))
	for i, r := range rows {
		out[i].Therapy = r[1]
		out[i].Minutes, _ = strconv.Atoi(r[2])
	}
	return out, nil
}
