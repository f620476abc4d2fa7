// Package relay sends messages to a broker.
package relay

import (
	"bufio"
	"fmt"
	"net"
	"strings"
)

// A Table has messages that were not sent.
type Table struct{ left []string }

// NewTable makes messages up.
func NewTable(n int) *Table {
	t := &Table{}
	for i := range n {
		t.left = append(t.left, fmt.Sprintf("order.created %d", i))
	}
	return t
}

// Next takes up to n messages out.
func (t *Table) Next(n int) []string {
	n = min(n, len(t.left))
	out := t.left[:n]
	t.left = t.left[n:]
	return out
}

// A Relay has a connection to a broker.
type Relay struct {
	batch int
	in    *bufio.Reader
	out   *bufio.Writer
}

// Dial connects to a broker.
func Dial(addr string, batch int) (*Relay, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Relay{batch, bufio.NewReader(c), bufio.NewWriter(c)}, nil
}

// Drain sends all messages of a table.
func (r *Relay) Drain(t *Table) (sent int, err error) {
	for {
		messages := t.Next(r.batch)
		if len(messages) == 0 {
			return sent, nil
		}
		if err := r.publish(messages); err != nil {
			return sent, err
		}
		sent += len(messages)
	}
}

// publish sends messages and waits for their receipts.
func (r *Relay) publish(messages []string) error {
	for _, m := range messages {
		if _, err := fmt.Fprintln(r.out, m); err != nil {
			return err
		}
	}
	if err := r.out.Flush(); err != nil {
		return err
	}
	for range messages {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.HasPrefix(line, "ok ") {
			return fmt.Errorf("the broker says %q", line)
		}
	}
	return nil
}
