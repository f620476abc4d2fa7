// Package codec decodes and encodes speech frames.
package codec

import (
	"runtime"
	"sync/atomic"

	"voicemix/internal/usage"
)

const Frame = 160

var steps [89]int32

func init() {
	v := 7.0
	for i := range steps {
		steps[i] = int32(v)
		v *= 1.1
	}
}

var ids atomic.Int64

// Codec is the state of one leg of a call.
type Codec struct {
	id      int
	pred    int32
	index   int32
	frames  int
	history [12 << 10]int16
	at      int
}

// Open makes a codec; its use is recorded when nobody has it any more.
func Open(l *usage.Ledger) *Codec {
	c := &Codec{id: int(ids.Add(1))}
	runtime.SetFinalizer(c, func(c *Codec) {
		l.Add(usage.Record{Codec: c.id, Frames: c.frames})
	})
	return c
}

// Decode turns a frame of 4 bit codes into samples.
func (c *Codec) Decode(in []byte, out []int16) {
	for i := range out {
		code := int32(in[i/2]>>(4*(i&1))) & 15
		step := steps[c.index]
		d := step >> 3
		if code&1 != 0 {
			d += step >> 2
		}
		if code&2 != 0 {
			d += step >> 1
		}
		if code&4 != 0 {
			d += step
		}
		if code&8 != 0 {
			d = -d
		}
		c.pred = min(32767, max(-32768, c.pred+d))
		if code&7 < 4 {
			c.index = max(0, c.index-1)
		} else {
			c.index = min(88, c.index+(code&7-3)*2)
		}
		out[i] = int16(c.pred)
		c.history[c.at] = out[i]
		c.at = (c.at + 1) % len(c.history)
	}
	c.frames++
}
