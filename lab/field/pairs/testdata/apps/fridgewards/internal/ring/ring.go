// Package ring maps keys to the collectors that own them.
package ring

import (
	"slices"
	"sync"
)

// Instance describes one collector.
type Instance struct {
	Addr      string
	Zone      string
	Heartbeat int64
	Tokens    []uint32
}

// Desc is the whole ring as the members exchange it.
type Desc struct {
	Instances map[string]Instance
}

type owner struct {
	id   string
	zone string
}

// Ring answers lookups from the last description it was given.
type Ring struct {
	mu     sync.RWMutex
	desc   Desc
	tokens []uint32
	owners map[uint32]owner
	kept   bool
}

// New returns an empty ring.
func New(kept bool) *Ring {
	return &Ring{kept: kept, owners: map[uint32]owner{}}
}

// Update installs a new description of the ring.
func (r *Ring) Update(d Desc) {
	if r.kept {
		r.mu.Lock()
		same := sameTokens(r.desc, d)
		if same {
			r.desc = d
		}
		r.mu.Unlock()
		if same {
			return
		}
	}
	tokens, owners := d.index()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.desc = d
	r.tokens, r.owners = tokens, owners
}

// Get returns up to n instances in different zones that own the key.
func (r *Ring) Get(key uint32, n int, buf []Instance) []Instance {
	r.mu.RLock()
	defer r.mu.RUnlock()
	start, _ := slices.BinarySearch(r.tokens, key)
	var zones [8]string
	for i := 0; i < len(r.tokens) && len(buf) < n; i++ {
		o := r.owners[r.tokens[(start+i)%len(r.tokens)]]
		if slices.Contains(zones[:len(buf)], o.zone) {
			continue
		}
		zones[len(buf)] = o.zone
		buf = append(buf, r.desc.Instances[o.id])
	}
	return buf
}
