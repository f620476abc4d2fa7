// Package message is the format of questions and answers: a header of four bytes, the name
// in labels, and the addresses.
package message

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// A Code is how a question ended.
type Code byte

// The codes.
const (
	Question Code = iota
	Found
	Unknown
	Failure
)

// MaxSize is the size of the largest message.
const MaxSize = 4096

// ErrFormat says that a packet is no message.
var ErrFormat = errors.New("message: format")

// A Header begins each message.
type Header struct {
	ID    uint16
	Code  Code
	Count byte // of addresses
}

// Append adds a message to a buffer. The name has its labels with their lengths in front.
func Append(to []byte, h Header, name []byte, addrs []netip.Addr) []byte {
	to = binary.BigEndian.AppendUint16(to, h.ID)
	to = append(to, byte(h.Code), byte(len(addrs)))
	to = append(to, name...)
	for _, a := range addrs {
		b := a.As4()
		to = append(to, b[:]...)
	}
	return to
}

// Labels makes a name of the wire out of one with dots.
func Labels(to []byte, name string) []byte {
	for len(name) > 0 {
		i := 0
		for i < len(name) && name[i] != '.' {
			i++
		}
		to = append(to, byte(i))
		to = append(to, name[:i]...)
		name = name[min(i+1, len(name)):]
	}
	return append(to, 0)
}

// Split takes a packet apart: what it returns are pieces of the packet.
func Split(packet []byte) (h Header, name, rest []byte, err error) {
	if len(packet) < 5 {
		return h, nil, nil, ErrFormat
	}
	h = Header{binary.BigEndian.Uint16(packet), Code(packet[2]), packet[3]}
	i := 4
	for i < len(packet) && packet[i] != 0 {
		i += 1 + int(packet[i])
	}
	if i >= len(packet) {
		return h, nil, nil, ErrFormat
	}
	return h, packet[4 : i+1], packet[i+1:], nil
}

// SetID changes the header of a packet.
func SetID(packet []byte, id uint16) { binary.BigEndian.PutUint16(packet, id) }
