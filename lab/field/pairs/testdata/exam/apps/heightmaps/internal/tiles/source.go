package tiles

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"heightmaps/internal/pages"
)

// A Source has the tiles of a country, compressed.
type Source struct {
	packed [][]byte
	sizes  []int
	pool   *pages.Pool
}

// Survey makes the tiles of a country, of some hundred rows of two hundred heights each.
func Survey(n int, pool *pages.Pool) (*Source, error) {
	s := &Source{pool: pool}
	var w *flate.Writer
	for t := range n {
		rows := 120 + t*37%100
		raw := make([]byte, 0, rows*Columns*2)
		for y := range rows {
			for x := range Columns {
				h := 400 + 300*math.Sin(float64(x+t)/40) + 90*math.Cos(float64(y*t)/25)
				raw = binary.LittleEndian.AppendUint16(raw, uint16(h/8)*8)
			}
		}
		var b bytes.Buffer
		if w == nil {
			w, _ = flate.NewWriter(&b, flate.BestSpeed)
		}
		w.Reset(&b)
		w.Write(raw)
		if err := w.Close(); err != nil {
			return nil, err
		}
		s.packed, s.sizes = append(s.packed, b.Bytes()), append(s.sizes, len(raw))
	}
	return s, nil
}

// Load unpacks a tile into memory of the pool.
func (s *Source) Load(id int) (*Tile, error) {
	if id < 0 || id >= len(s.packed) {
		return nil, fmt.Errorf("tiles: no tile %d", id)
	}
	data, err := s.pool.Alloc(s.sizes[id])
	if err != nil {
		return nil, err
	}
	r := flate.NewReader(bytes.NewReader(s.packed[id]))
	defer r.Close()
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("tile %d: %w", id, err)
	}
	return &Tile{id: id, data: data}, nil
}

// Release gives the memory of a tile back.
func (s *Source) Release(t *Tile) {
	s.pool.Free(t.data)
	t.data = nil
}
