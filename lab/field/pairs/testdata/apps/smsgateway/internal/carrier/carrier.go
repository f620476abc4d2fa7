// Package carrier makes the packets that are given to carriers.
package carrier

import (
	"encoding/binary"
	"hash/crc32"

	"smsgateway/internal/intake"
	"smsgateway/internal/routing"
)

// PacketSize is room enough for a packet.
const PacketSize = 320

// Bind is a session with the carriers.
type Bind struct {
	seq    uint32
	flight [64][]byte
	Parts  int
	Cost   float64
	Bytes  int
	Check  uint32
}

// Submit makes the packets of a message. They stay in flight until they are answered.
func (b *Bind) Submit(m *intake.Message, c routing.Carrier) {
	text := []byte(m.Text)
	parts := intake.Parts(m.Text)
	for i := range parts {
		b.seq++
		p := make([]byte, 0, PacketSize)
		p = binary.BigEndian.AppendUint32(p, 4)
		p = binary.BigEndian.AppendUint32(p, b.seq)
		p = append(append(p, m.From...), 0)
		p = append(append(p, m.To...), 0)
		p = append(p, 5, 0, 3, byte(b.seq), byte(parts), byte(i+1))
		lo, hi := i*len(text)/parts, (i+1)*len(text)/parts
		p = append(p, text[lo:hi]...)
		b.Check = crc32.Update(b.Check, crc32.IEEETable, p)
		b.flight[b.seq%uint32(len(b.flight))] = p
		b.Bytes += len(p)
		b.Parts++
		b.Cost += c.Price
	}
}
