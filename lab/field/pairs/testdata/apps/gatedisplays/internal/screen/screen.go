// Package screen draws what hangs above a gate.
package screen

import (
	"fmt"
	"hash/adler32"
	"sync/atomic"

	"gatedisplays/internal/flight"
	"gatedisplays/internal/watch"
)

const w, h = 192, 64

// Screen hangs at a gate.
type Screen struct {
	Gate  int
	pix   [w * h]byte
	Drawn atomic.Int64
	Sum   uint32
}

// Run draws each new call.
func (s *Screen) Run(b *watch.Board, done <-chan struct{}) {
	v := 0
	for {
		c, next, ok := b.Next(s.Gate, v, done)
		if !ok {
			return
		}
		v = next
		s.draw(c)
		s.Drawn.Add(1)
	}
}

func (s *Screen) draw(c flight.Call) {
	text := fmt.Sprintf("%-6s %-10s %02d:%02d %s", c.Flight, c.Dest, c.Depart/60, c.Depart%60, c.Status)
	clear(s.pix[:])
	for i := 0; i < len(text) && i < w/8; i++ {
		g := uint32(text[i]) * 2654435761
		for y := range h {
			g = g<<5 | g>>27
			row := s.pix[y*w+i*8:]
			for x := range 8 {
				if g>>(x*3)&1 != 0 {
					row[x] = 0xff
				}
			}
		}
	}
	s.Sum = adler32.Checksum(s.pix[:])
}
