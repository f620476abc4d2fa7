// Package headend asks for meters, and has the station that answers for them.
package headend

import (
	"encoding/binary"
	"errors"
	"fmt"

	"meterround/internal/link"
)

// A Reading is what a meter shows.
type Reading struct {
	Meter, Wh uint32
	Register  [12]uint16 // the last hours
}

// A Client asks over a line.
type Client struct {
	line *link.Line
	wrap func(meter uint32, err error) error
}

// inText tells in words what happened.
func inText(meter uint32, err error) error {
	return fmt.Errorf("headend: meter %08d: %v", meter, err)
}

// inChain keeps what happened below.
func inChain(meter uint32, err error) error {
	return fmt.Errorf("headend: meter %08d: %w", meter, err)
}

// NewClient makes a client; detail says how its errors tell of those of the line.
func NewClient(l *link.Line, detail string) (*Client, error) {
	switch detail {
	case "text":
		return &Client{l, inText}, nil
	case "chain":
		return &Client{l, inChain}, nil
	}
	return nil, fmt.Errorf("headend: errors as %q", detail)
}

// Close closes the line.
func (c *Client) Close() error { return c.line.Close() }

var errSize = errors.New("size of an answer")

// Read reads a meter.
func (c *Client) Read(meter uint32) (r Reading, err error) {
	answer, err := c.line.Ask(link.Read, binary.BigEndian.AppendUint32(nil, meter))
	if err == nil && len(answer) != 32 {
		err = errSize
	}
	if err != nil {
		return r, c.wrap(meter, err)
	}
	r.Meter, r.Wh = binary.BigEndian.Uint32(answer), binary.BigEndian.Uint32(answer[4:])
	for i := range r.Register {
		r.Register[i] = binary.BigEndian.Uint16(answer[8+2*i:])
	}
	return r, nil
}
