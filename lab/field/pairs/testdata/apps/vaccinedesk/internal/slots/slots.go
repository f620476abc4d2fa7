// Package slots keeps the free appointments of sites.
package slots

import (
	"math/bits"
	"sync"
)

type site struct {
	mu   sync.Mutex
	free []uint64
	next int
}

type Plan struct{ sites []site }

func New(sites, perDay int) *Plan {
	p := &Plan{sites: make([]site, sites)}
	for i := range p.sites {
		p.sites[i].free = make([]uint64, (perDay*28+63)/64)
		for w := range p.sites[i].free {
			p.sites[i].free[w] = ^uint64(0)
		}
	}
	return p
}

// Take takes the first free appointment at or after the one asked for.
func (p *Plan) Take(no, from int) int {
	s := &p.sites[no%len(p.sites)]
	s.mu.Lock()
	defer s.mu.Unlock()
	w := from / 64 % len(s.free)
	for range s.free {
		if s.free[w] != 0 {
			b := bits.TrailingZeros64(s.free[w])
			s.free[w] &^= 1 << b
			return w*64 + b
		}
		w = (w + 1) % len(s.free)
	}
	return -1
}
