// Package station is the device at a door.
package station

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"time"

	"doorstations/internal/wire"
)

// Station is one device.
type Station struct {
	Door  string
	Codec wire.Codec
	Every time.Duration

	Opened, Refused int
}

// Run asks for people until the context ends.
func (s *Station) Run(ctx context.Context, addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	for seq := uint32(1); ; seq++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		body := fmt.Sprintf("enter %s %08d", s.Door, seq*7919)
		if err := s.Codec.Write(c, wire.Frame{Seq: seq, Body: []byte(body)}); err != nil {
			return err
		}
		f, err := s.Codec.Read(r)
		if err != nil {
			return err
		}
		if string(f.Body[:4]) == "open" {
			s.Opened++
		} else {
			s.Refused++
		}
	}
}
