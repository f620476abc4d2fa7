// Package kvwire is the client of the registry's line protocol.
package kvwire

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
)

type Conn struct {
	nc net.Conn
	r  *bufio.Reader
	w  *bufio.Writer
}

func Dial(addr string) (*Conn, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{nc: nc, r: bufio.NewReaderSize(nc, 32<<10), w: bufio.NewWriter(nc)}, nil
}

func (c *Conn) Close() error { return c.nc.Close() }

// Do sends a command and reads the values of the answer.
func (c *Conn) Do(cmd string, keys ...string) ([][]byte, error) {
	c.w.WriteString(cmd)
	for _, k := range keys {
		c.w.WriteByte(' ')
		c.w.WriteString(k)
	}
	c.w.WriteByte('\n')
	if err := c.w.Flush(); err != nil {
		return nil, err
	}
	head, err := c.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(head, "*"), "\n"))
	if err != nil {
		return nil, fmt.Errorf("kvwire: answer %q", head)
	}
	vals := make([][]byte, n)
	for i := range vals {
		line, err := c.r.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		vals[i] = line[:len(line)-1]
	}
	return vals, nil
}
