// Package depot has the shelves of one warehouse.
package depot

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"stockprobe/internal/faults"
)

// Depot is one warehouse.
type Depot struct {
	Name    string
	missing faults.Maker

	mu      sync.Mutex
	shelves map[string]*shelf
}

type shelf struct {
	bin   int
	units int
	taken int64
}

// New fills a depot with a share of the articles.
func New(name string, articles, share int, seed uint64, missing faults.Maker) *Depot {
	d := &Depot{Name: name, missing: missing, shelves: make(map[string]*shelf)}
	rng := rand.New(rand.NewPCG(seed, 4))
	for i := range articles {
		if rng.IntN(100) < share {
			d.shelves[SKU(i)] = &shelf{bin: rng.IntN(9000), units: 100 + rng.IntN(1000)}
		}
	}
	return d
}

// SKU is the code of article i.
func SKU(i int) string { return fmt.Sprintf("SKU-%06d", i) }

// Reserve takes units of an article from its shelf and says which bin it is.
func (d *Depot) Reserve(sku string, units int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.shelves[sku]
	if s == nil || s.units < units {
		return 0, d.missing("reserve at "+d.Name, sku)
	}
	s.units -= units
	s.taken += int64(units)
	if s.units < 50 {
		s.units += 1000 // the night shift fills up
	}
	return s.bin, nil
}
