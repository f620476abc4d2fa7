// Package frame prepares pictures for printing.
package frame

import (
	"hash/adler32"
	"math/rand/v2"
)

// Picture is a grey picture.
type Picture struct {
	W, H int
	Pix  []byte
}

// Shoot makes a picture by chance.
func Shoot(r *rand.Rand, w, h int) *Picture {
	p := &Picture{W: w, H: h, Pix: make([]byte, w*h)}
	v := r.IntN(256)
	for i := range p.Pix {
		v = (v*7 + i) % 251
		p.Pix[i] = byte(v)
	}
	return p
}

// Dither gives the picture in black and white (Floyd-Steinberg).
func Dither(p *Picture) *Picture {
	out := &Picture{W: p.W, H: p.H, Pix: make([]byte, len(p.Pix))}
	row, next := make([]int, p.W+2), make([]int, p.W+2)
	for y := range p.H {
		for x := range p.W {
			v := int(p.Pix[y*p.W+x]) + row[x+1]/16
			e := v
			if v > 127 {
				out.Pix[y*p.W+x] = 255
				e = v - 255
			}
			row[x+2] += e * 7
			next[x] += e * 3
			next[x+1] += e * 5
			next[x+2] += e
		}
		row, next = next, row
		clear(next)
	}
	return out
}

// Sum identifies a picture.
func Sum(p *Picture) uint32 { return adler32.Checksum(p.Pix) }
