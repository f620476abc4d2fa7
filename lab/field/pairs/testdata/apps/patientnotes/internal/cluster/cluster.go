// Package cluster stores packed notes on all replicas.
package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"sync"
)

type node struct {
	addr string
	mu   sync.Mutex
	idle []net.Conn
}

// Cluster is a set of replicas.
type Cluster struct {
	nodes []*node
	need  int
}

// New returns the cluster of the replicas at addrs. A note is stored when need of them have it.
func New(addrs []string, need int) *Cluster {
	c := &Cluster{need: need}
	for _, a := range addrs {
		c.nodes = append(c.nodes, &node{addr: a})
	}
	return c
}

// ErrTooFew says that too few replicas have stored a note.
var ErrTooFew = errors.New("cluster: too few replicas")

// Store sends a note to the replicas.
func (c *Cluster) Store(packed []byte) error {
	msg := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(packed)), uint32(len(packed)))
	msg = append(msg, packed...)
	sum := crc32.ChecksumIEEE(packed)
	acks := make(chan error, len(c.nodes))
	for _, n := range c.nodes {
		go func() { acks <- n.put(msg, sum) }()
	}
	have, failed := 0, 0
	for have < c.need {
		if err := <-acks; err != nil {
			if failed++; len(c.nodes)-failed < c.need {
				return fmt.Errorf("%w: %w", ErrTooFew, err)
			}
			continue
		}
		have++
	}
	return nil
}

func (n *node) get() (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := len(n.idle); k > 0 {
		c := n.idle[k-1]
		n.idle = n.idle[:k-1]
		return c, nil
	}
	return net.Dial("tcp", n.addr)
}

func (n *node) put(msg []byte, sum uint32) error {
	c, err := n.get()
	if err != nil {
		return err
	}
	if _, err := c.Write(msg); err != nil {
		c.Close()
		return err
	}
	var got [4]byte
	if _, err := io.ReadFull(c, got[:]); err != nil {
		c.Close()
		return err
	}
	n.mu.Lock()
	n.idle = append(n.idle, c)
	n.mu.Unlock()
	if binary.BigEndian.Uint32(got[:]) != sum {
		return fmt.Errorf("cluster: %s stored something else", n.addr)
	}
	return nil
}
