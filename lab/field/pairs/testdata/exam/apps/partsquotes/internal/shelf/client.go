package shelf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"partsquotes/internal/pool"
)

// Errors of the client.
var (
	ErrAbsent = errors.New("shelf: no such key")
	ErrReply  = errors.New("shelf: reply")
)

// A Client asks a server.
type Client struct {
	pool     *pool.Pool
	reusable func(error) bool
	patience time.Duration
}

// strict has nothing to do with a connection after an error.
func strict(err error) bool { return err == nil }

// read goes by whether the answer was read to its end.
func read(err error) bool { return err == nil || errors.Is(err, ErrAbsent) }

// NewClient makes a client; recycle says which connections are used again.
func NewClient(p *pool.Pool, recycle string) (*Client, error) {
	c := &Client{pool: p, patience: time.Second}
	switch recycle {
	case "strict":
		c.reusable = strict
	case "read":
		c.reusable = read
	default:
		return nil, fmt.Errorf("shelf: recycle %q", recycle)
	}
	return c, nil
}

// do calls f with a connection.
func (c *Client) do(f func(*pool.Conn) error) error {
	conn, err := c.pool.Get(c.patience)
	if err != nil {
		return err
	}
	if err = conn.SetDeadline(time.Now().Add(c.patience)); err == nil {
		err = f(conn)
	}
	c.pool.Put(conn, c.reusable(err))
	return err
}

// Get returns the value of a key.
func (c *Client) Get(key string) (value []byte, err error) {
	err = c.do(func(conn *pool.Conn) error {
		if _, err := fmt.Fprintf(conn.W, "get %s\n", key); err != nil {
			return err
		}
		if err := conn.W.Flush(); err != nil {
			return err
		}
		line, err := conn.R.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.Equal(line, []byte("absent\n")) {
			return fmt.Errorf("%w: %s", ErrAbsent, key)
		}
		var size int
		if _, err := fmt.Sscanf(string(line), "value %d", &size); err != nil {
			return ErrReply
		}
		value = make([]byte, size)
		_, err = io.ReadFull(conn.R, value)
		return err
	})
	return value, err
}

// Set puts a value.
func (c *Client) Set(key string, value []byte) error {
	return c.do(func(conn *pool.Conn) error {
		fmt.Fprintf(conn.W, "set %s %d\n", key, len(value))
		if _, err := conn.W.Write(value); err != nil {
			return err
		}
		if err := conn.W.Flush(); err != nil {
			return err
		}
		line, err := conn.R.ReadSlice('\n')
		if err == nil && string(line) != "stored\n" {
			err = ErrReply
		}
		return err
	})
}
