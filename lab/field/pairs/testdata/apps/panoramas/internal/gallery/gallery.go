// Package gallery has the pictures of rooms, compressed.
package gallery

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
)

// A Gallery has a picture for each room.
type Gallery struct {
	packed  [][]byte
	decoded int
}

// New makes pictures up.
func New(rooms int) *Gallery {
	g := &Gallery{}
	picture := make([]byte, 300<<10)
	for r := range rooms {
		for i := range picture {
			picture[i] = byte(i * r / 64)
		}
		var b bytes.Buffer
		z, _ := flate.NewWriter(&b, flate.BestSpeed) // the level is one
		_, _ = z.Write(picture)
		_ = z.Close() // it is memory
		g.packed = append(g.packed, b.Bytes())
	}
	return g
}

// Decode decodes the picture of a room.
func (g *Gallery) Decode(room int) ([]byte, error) {
	if room < 0 || room >= len(g.packed) {
		return nil, fmt.Errorf("there is no room %d", room)
	}
	g.decoded++
	return io.ReadAll(flate.NewReader(bytes.NewReader(g.packed[room])))
}

// Decoded is how often one was.
func (g *Gallery) Decoded() int { return g.decoded }
