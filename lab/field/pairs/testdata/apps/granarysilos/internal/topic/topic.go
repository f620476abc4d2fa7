// Package topic holds a partitioned log of deliveries.
package topic

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// Record is one entry of a partition.
type Record struct {
	Offset int64
	Value  string
}

// Partition yields records in order.
type Partition struct {
	ID        int
	mu        sync.Mutex
	rnd       *rand.Rand
	next      int64
	committed int64
}

// Open returns the partitions of a topic.
func Open(n int) []*Partition {
	out := make([]*Partition, n)
	for i := range out {
		out[i] = &Partition{ID: i, rnd: rand.New(rand.NewPCG(uint64(i), 21))}
	}
	return out
}

var sorts = []string{"wheat", "barley", "rye", "oats", "maize", "spelt"}

// Fetch returns the next n records.
func (p *Partition) Fetch(n int) []Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Record, n)
	for i := range out {
		r := p.rnd
		out[i] = Record{Offset: p.next, Value: fmt.Sprintf("farm-%04d;%s;%.2f;%.1f;%.1f;%d",
			r.IntN(5000), sorts[r.IntN(len(sorts))], 4+r.Float64()*22, 10+r.Float64()*8, 9+r.Float64()*6, r.IntN(40))}
		p.next++
	}
	return out
}

// Commit marks everything before an offset as done.
func (p *Partition) Commit(off int64) {
	p.mu.Lock()
	p.committed = max(p.committed, off)
	p.mu.Unlock()
}

// Committed tells how many records are done.
func (p *Partition) Committed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.committed
}
