// Package devices are the pagers.
package devices

import (
	"bufio"
	"net"
	"time"

	"pagers/internal/proto"
)

// Carry switches n pagers on.
func Carry(addr string, n int) error {
	for number := range n {
		c, err := net.DialTimeout("tcp", addr, 5*time.Second)
		if err != nil {
			return err
		}
		if _, err := c.Write(proto.Message{Verb: "HERE", ID: number + 1}.Append(nil)); err != nil {
			return err
		}
		go carry(c)
	}
	return nil
}

// carry acknowledges what comes.
func carry(c net.Conn) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 512)
	var out []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		m, err := proto.Parse(line)
		if err != nil {
			return
		}
		out = proto.Message{Verb: "ACK", ID: m.ID}.Append(out[:0])
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}
