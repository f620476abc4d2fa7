// Package wire takes claims as lines of JSON over TCP.
package wire

import (
	"bufio"
	"encoding/json"
	"net"

	"claimintake/internal/check"
	"claimintake/internal/claim"
	"claimintake/internal/intake"
)

func Serve(ln net.Listener, s *intake.Service) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go session(c, s)
	}
}

func session(c net.Conn, s *intake.Service) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 32<<10)
	out := bufio.NewWriter(c)
	enc := json.NewEncoder(out)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil || enc.Encode(answer(line, s)) != nil {
			return
		}
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

func answer(line []byte, s *intake.Service) *claim.Decision {
	c, d := new(claim.Claim), new(claim.Decision)
	err := json.Unmarshal(line, c)
	if err == nil {
		err = check.Value(c)
	}
	if err == nil {
		err = s.Submit(c, d)
	}
	if err != nil {
		d.Error = err.Error()
	}
	return d
}
