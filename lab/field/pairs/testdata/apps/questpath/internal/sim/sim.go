// Package sim moves the characters of the game.
package sim

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand"

	"questpath/internal/route"
	"questpath/internal/world"
)

type Party struct {
	m    *world.Map
	find *route.Finder
	rng  *rand.Rand
	at   world.Cell
	snap []byte
	Sum  uint32
	Lost int
	Len  int
}

func NewParty(m *world.Map, f *route.Finder, seed int64) *Party {
	return &Party{m: m, find: f, rng: rand.New(rand.NewSource(seed))}
}

func (p *Party) somewhere() (c world.Cell) {
	for {
		c = world.Cell{X: p.rng.Intn(p.m.W), Y: p.rng.Intn(p.m.H)}
		if p.m.Cost(c.X, c.Y) > 0 {
			return c
		}
	}
}

// Quest sends the party to a new place and records the state on the way.
func (p *Party) Quest() {
	to := p.somewhere()
	way := p.find.Find(p.at, to)
	if way == nil {
		p.Lost++
		p.at = p.somewhere()
		return
	}
	for _, c := range p.find.Smooth(way) {
		p.record(c)
	}
	p.Len += len(way)
	p.at = to
}

// record digests what the party sees around a cell.
func (p *Party) record(c world.Cell) {
	p.snap = p.snap[:0]
	for y := c.Y - 24; y <= c.Y+24; y++ {
		for x := c.X - 24; x <= c.X+24; x++ {
			if (x+y)%3 != 0 || !p.m.Visible(c, world.Cell{X: x, Y: y}) {
				continue
			}
			p.snap = binary.LittleEndian.AppendUint32(p.snap, uint32(y<<16|x))
			p.snap = append(p.snap, byte(p.m.Cost(x, y)))
		}
	}
	p.Sum = crc32.Update(p.Sum, crc32.IEEETable, p.snap)
}
