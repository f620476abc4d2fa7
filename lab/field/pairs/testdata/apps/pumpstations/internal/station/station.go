// Package station sends the measurements of pump stations.
package station

import (
	"bufio"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"time"

	"pumpstations/internal/wire"
)

// Sample is one measurement.
type Sample struct {
	Offset uint64 // ms since the start of the frame
	Flow   int64  // litres per minute
	Level  int64  // mm
}

func encode(b []byte, rng *rand.Rand, samples int) []byte {
	b = binary.AppendUvarint(b, uint64(samples))
	flow, level := int64(900), int64(4200)
	for i := range samples {
		df, dl := rng.Int64N(41)-20, rng.Int64N(21)-10
		b = binary.AppendUvarint(b, uint64(i*250))
		b = binary.AppendVarint(b, df)
		b = binary.AppendVarint(b, dl)
		flow, level = flow+df, level+dl
	}
	return b
}

// Decode calls f for the samples of a body.
func Decode(body []byte, f func(Sample)) int {
	n, k := binary.Uvarint(body)
	body = body[max(k, 0):]
	s := Sample{Flow: 900, Level: 4200}
	for i := range int(n) {
		off, a := binary.Uvarint(body)
		if a <= 0 {
			return i
		}
		df, b := binary.Varint(body[a:])
		if b <= 0 {
			return i
		}
		dl, c := binary.Varint(body[a+b:])
		if c <= 0 {
			return i
		}
		body = body[a+b+c:]
		s.Offset, s.Flow, s.Level = off, s.Flow+df, s.Level+dl
		f(s)
	}
	return int(n)
}

// Run sends frames to addr until stop.
func Run(addr string, id uint64, stop time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	rng := rand.New(rand.NewPCG(id, 3))
	bodies := make([][]byte, 64)
	for i := range bodies {
		bodies[i] = encode(nil, rng, 150+i)
	}
	w := bufio.NewWriterSize(conn, 32<<10)
	var buf []byte
	for seq := uint64(1); time.Now().Before(stop); seq++ {
		f := wire.Frame{Station: id, Seq: seq, Body: bodies[seq%64]}
		buf = f.Append(buf[:0])
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return w.Flush()
}
