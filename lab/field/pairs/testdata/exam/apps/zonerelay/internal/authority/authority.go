// Package authority answers for the zones of the campus.
package authority

import (
	"bytes"
	"hash/fnv"
	"net"
	"net/netip"

	"zonerelay/internal/message"
)

// A Server knows the addresses.
type Server struct{ conn *net.UDPConn }

// Listen opens the server's socket.
func Listen(addr string) (*Server, error) {
	conn, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return nil, err
	}
	return &Server{conn.(*net.UDPConn)}, nil
}

// Addr is where to ask.
func (s *Server) Addr() netip.AddrPort { return s.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

var (
	far     = message.Labels(nil, "far.campus")
	missing = message.Labels(nil, "none.campus")
)

// Serve answers until the socket is closed. Of the zone far.campus nothing comes back.
func (s *Server) Serve() error {
	in, out := make([]byte, message.MaxSize), make([]byte, 0, message.MaxSize)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(in)
		if err != nil {
			return err
		}
		h, name, _, err := message.Split(in[:n])
		if err != nil || bytes.HasSuffix(name, far) {
			continue
		}
		h.Code = message.Found
		var addrs []netip.Addr
		if bytes.HasSuffix(name, missing) {
			h.Code = message.Unknown
		} else {
			addrs = resolve(name)
		}
		out = message.Append(out[:0], h, name, addrs)
		if _, err := s.conn.WriteToUDPAddrPort(out, from); err != nil {
			return err
		}
	}
}

// resolve makes addresses out of a name.
func resolve(name []byte) []netip.Addr {
	sum := fnv.New32a()
	sum.Write(name)
	v := sum.Sum32()
	addrs := make([]netip.Addr, 1+v%3)
	for i := range addrs {
		addrs[i] = netip.AddrFrom4([4]byte{10, byte(v >> 16), byte(v >> 8), byte(v) + byte(i)})
	}
	return addrs
}
