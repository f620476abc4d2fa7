// Package tiles keeps the heights of a country, some tiles of them unpacked.
package tiles

import (
	"container/list"
	"encoding/binary"
	"sync"
)

// Columns is how many heights a row has.
const Columns = 200

// A Tile is unpacked.
type Tile struct {
	id   int
	data []byte
	uses int
	gone bool
}

// Rows returns how many rows there are.
func (t *Tile) Rows() int { return len(t.data) / Columns / 2 }

// At returns a height, in metres.
func (t *Tile) At(row, column int) int {
	return int(binary.LittleEndian.Uint16(t.data[2*(row*Columns+column):]))
}

// A Cache has the tiles that were used last. It is safe for concurrent use.
type Cache struct {
	source *Source
	limit  int
	mu     sync.Mutex
	items  map[int]*list.Element
	order  *list.List
}

// NewCache returns a cache of so many tiles.
func NewCache(s *Source, limit int) *Cache {
	return &Cache{source: s, limit: limit, items: map[int]*list.Element{}, order: list.New()}
}

// Use calls f with a tile, which stays unpacked as long.
func (c *Cache) Use(id int, f func(*Tile)) error {
	t, err := c.acquire(id)
	if err != nil {
		return err
	}
	f(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	t.uses--
	c.drop(t)
	return nil
}

func (c *Cache) acquire(id int) (*Tile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[id]; ok {
		c.order.MoveToFront(e)
		t := e.Value.(*Tile)
		t.uses++
		return t, nil
	}
	t, err := c.source.Load(id)
	if err != nil {
		return nil, err
	}
	t.uses++
	c.items[id] = c.order.PushFront(t)
	for c.order.Len() > c.limit {
		old := c.order.Remove(c.order.Back()).(*Tile)
		delete(c.items, old.id)
		old.gone = true
		c.drop(old)
	}
	return t, nil
}

// drop releases a tile that is in the cache no more and that nobody uses.
func (c *Cache) drop(t *Tile) {
	if t.gone && t.uses == 0 {
		c.source.Release(t)
	}
}
