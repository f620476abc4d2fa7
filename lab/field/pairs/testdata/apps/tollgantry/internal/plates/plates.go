// Package plates reads number plates.
package plates

import (
	"math/rand/v2"
	"time"
)

type Reading struct {
	Plate string
	Axles int
	Frame []byte
}

type Reader interface {
	Read(gantry int) Reading
}

// Sim is a camera that takes its time.
type Sim struct{ Base time.Duration }

const alphabet = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"

func (s Sim) Read(gantry int) Reading {
	time.Sleep(s.Base + rand.N(s.Base/2))
	p := make([]byte, 7)
	for i := range p {
		p[i] = alphabet[rand.IntN(len(alphabet))]
	}
	frame := make([]byte, 6<<10)
	x := rand.Uint64() | 1
	for i := range frame {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		frame[i] = byte(x)
	}
	return Reading{Plate: string(p), Axles: 2 + gantry%4, Frame: frame}
}
