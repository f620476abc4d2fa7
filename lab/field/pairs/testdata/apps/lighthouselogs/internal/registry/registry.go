// Package registry is the registry of lights and its client.
package registry

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"net"
	"strings"
	"time"
)

// Serve answers questions after the registry's usual delay.
func Serve(ln net.Listener, delay time.Duration) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			sc := bufio.NewScanner(c)
			for sc.Scan() {
				time.Sleep(delay)
				id := strings.TrimPrefix(sc.Text(), "GET ")
				fmt.Fprintf(c, "%s %d\n", id, crc32.ChecksumIEEE([]byte(id))%60+5)
			}
		}()
	}
}

// Client asks the registry over one connection.
type Client struct {
	conn net.Conn
	r    *bufio.Reader
}

// Dial connects to a registry.
func Dial(addr string) (*Client, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Client{conn: c, r: bufio.NewReader(c)}, nil
}

// Record stores a report and returns the light's range in miles.
func (c *Client) Record(id string) (int, error) {
	if _, err := fmt.Fprintf(c.conn, "GET %s\n", id); err != nil {
		return 0, err
	}
	line, err := c.r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	var got string
	var miles int
	_, err = fmt.Sscan(line, &got, &miles)
	return miles, err
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
