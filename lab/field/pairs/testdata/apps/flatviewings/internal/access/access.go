// Package access decides who may see which flat.
package access

import (
	"hash/fnv"
	"net"
	"net/rpc"
	"time"
)

// Query asks for one user and some flats.
type Query struct {
	User  string
	Flats []int
}

// Service is the part that runs at the authority.
type Service struct{}

// Check answers which of the flats may be seen.
func (*Service) Check(q Query, out *[]bool) error {
	time.Sleep(1500 * time.Microsecond)
	res := make([]bool, len(q.Flats))
	for i, f := range q.Flats {
		h := fnv.New32a()
		h.Write([]byte{q.User[0], byte(f), byte(f >> 8)})
		res[i] = h.Sum32()%7 != 0
	}
	*out = res
	return nil
}

// Serve runs the authority until the listener is closed.
func Serve(ln net.Listener) error {
	s := rpc.NewServer()
	if err := s.RegisterName("Access", &Service{}); err != nil {
		return err
	}
	go s.Accept(ln)
	return nil
}

// Client asks the authority.
type Client struct{ rpc *rpc.Client }

// Dial connects to the authority.
func Dial(addr string) (*Client, error) {
	c, err := rpc.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.rpc.Close() }

// May tells whether the user may see the flat.
func (c *Client) May(user string, flat int) (bool, error) {
	r, err := c.MayAll(user, []int{flat})
	if err != nil {
		return false, err
	}
	return r[0], nil
}

// MayAll tells it for several flats.
func (c *Client) MayAll(user string, flats []int) ([]bool, error) {
	var out []bool
	err := c.rpc.Call("Access.Check", Query{user, flats}, &out)
	return out, err
}
