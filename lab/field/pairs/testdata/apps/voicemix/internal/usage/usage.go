// Package usage reports the use of codecs to the accounting service.
package usage

import (
	"bufio"
	"encoding/json"
	"net"
	"sync/atomic"
	"time"
)

type Record struct {
	Codec  int `json:"c"`
	Frames int `json:"f"`
}

// Accounting acknowledges every report after it is booked.
type Accounting struct {
	l      net.Listener
	Booked atomic.Int64
}

func StartAccounting() (*Accounting, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &Accounting{l: l}
	go a.serve()
	return a, nil
}

func (a *Accounting) Addr() string { return a.l.Addr().String() }

func (a *Accounting) serve() {
	for {
		c, err := a.l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			dec := json.NewDecoder(bufio.NewReader(c))
			for {
				var rs []Record
				if dec.Decode(&rs) != nil {
					return
				}
				time.Sleep(12 * time.Millisecond) // booking
				a.Booked.Add(int64(len(rs)))
				if _, err := c.Write([]byte{'\n'}); err != nil {
					return
				}
			}
		}()
	}
}

// Ledger sends records one report after the other.
type Ledger struct {
	conn net.Conn
	in   chan Record
	most int
}

func Dial(addr string, queue, most int) (*Ledger, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &Ledger{conn: c, in: make(chan Record, queue), most: most}
	go l.run()
	return l, nil
}

func (l *Ledger) Add(r Record) { l.in <- r }

func (l *Ledger) run() {
	ack := make([]byte, 1)
	for r := range l.in {
		rs := []Record{r}
	more:
		for len(rs) < l.most {
			select {
			case r := <-l.in:
				rs = append(rs, r)
			default:
				break more
			}
		}
		b, err := json.Marshal(rs)
		if err != nil {
			continue
		}
		if _, err := l.conn.Write(b); err != nil {
			return
		}
		if _, err := l.conn.Read(ack); err != nil {
			return
		}
	}
}
