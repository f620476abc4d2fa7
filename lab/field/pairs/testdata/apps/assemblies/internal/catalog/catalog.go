// Package catalog keeps the released products.
package catalog

import (
	"math/rand/v2"
	"sync"

	"assemblies/internal/bom"
)

type Catalog struct {
	mu       sync.RWMutex
	products []*bom.Item
	digests  map[string][32]byte
}

func New(n int) *Catalog {
	r := rand.New(rand.NewPCG(7, 11))
	c := &Catalog{digests: make(map[string][32]byte, n)}
	for i := range n {
		c.products = append(c.products, bom.Machine(r, i, 6+r.IntN(3)))
	}
	return c
}

func (c *Catalog) Product(i int) *bom.Item {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.products[i%len(c.products)]
}

// Record notes the digest of a released document; it reports whether it is new.
func (c *Catalog) Record(number string, sum [32]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, ok := c.digests[number]
	c.digests[number] = sum
	return !ok || old != sum
}
