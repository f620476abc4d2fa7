// Package profile tells how steep ways are.
package profile

import (
	"math/rand/v2"

	"heightmaps/internal/tiles"
)

// A Climb is what somebody goes up and down on a way, in metres.
type Climb struct{ Up, Down int }

// Way walks through some tiles from north to south, each along a column.
func Way(c *tiles.Cache, ids []int, column int) (Climb, error) {
	var w Climb
	for _, id := range ids {
		err := c.Use(id, func(t *tiles.Tile) {
			last := t.At(0, column)
			for row := 1; row < t.Rows(); row++ {
				h := t.At(row, column)
				if h > last {
					w.Up += h - last
				} else {
					w.Down += last - h
				}
				last = h
			}
		})
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

// A Walker chooses ways.
type Walker struct {
	rand  *rand.Rand
	tiles int
}

// NewWalker returns a walker in a country of so many tiles.
func NewWalker(seed uint64, tiles int) *Walker {
	return &Walker{rand.New(rand.NewPCG(seed, 21)), tiles}
}

// Next returns a way.
func (w *Walker) Next() (ids []int, column int) {
	for range 2 + w.rand.IntN(3) {
		ids = append(ids, min(w.rand.IntN(w.tiles), w.rand.IntN(w.tiles)))
	}
	return ids, w.rand.IntN(tiles.Columns)
}
