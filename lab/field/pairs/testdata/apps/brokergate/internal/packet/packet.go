// Package packet has the frames of devices.
package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Packet is one publication.
type Packet struct {
	Device  uint32
	Seq     uint16
	QoS     uint8
	Retain  bool
	Topic   string
	Payload []byte
}

var (
	errShort = errors.New("packet: short frame")
	errSum   = errors.New("packet: checksum")
)

// Append writes p to dst.
func Append(dst []byte, p *Packet) []byte {
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, p.Device)
	dst = binary.BigEndian.AppendUint16(dst, p.Seq)
	flags := p.QoS
	if p.Retain {
		flags |= 0x80
	}
	dst = append(dst, flags, byte(len(p.Topic)))
	dst = append(dst, p.Topic...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.Payload)))
	dst = append(dst, p.Payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}

// Parse reads a frame. The payload is part of it.
func Parse(b []byte) (*Packet, error) {
	if len(b) < 14 {
		return nil, errShort
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil, errSum
	}
	p := &Packet{
		Device: binary.BigEndian.Uint32(body),
		Seq:    binary.BigEndian.Uint16(body[4:]),
		QoS:    body[6] & 3,
		Retain: body[6]&0x80 != 0,
	}
	n := int(body[7])
	if len(body) < 10+n {
		return nil, errShort
	}
	p.Topic = string(body[8 : 8+n])
	size := int(binary.BigEndian.Uint16(body[8+n:]))
	if len(body) != 10+n+size {
		return nil, errShort
	}
	p.Payload = body[10+n:]
	return p, nil
}

func (p *Packet) String() string {
	return fmt.Sprintf("dev=%d seq=%d qos=%d retain=%t topic=%s size=%d", p.Device, p.Seq, p.QoS, p.Retain, p.Topic, len(p.Payload))
}
