// Package profile keeps the water column of each buoy in bins.
package profile

import (
	"math"
	"sync"

	"buoydepths/internal/frames"
)

// Config chooses how bins are made.
type Config struct {
	Grid2 bool
}

// Bin names a slice of the water column, in metres.
type Bin struct {
	Buoy  string
	Depth float64
}

// Column is what is known of a bin.
type Column struct {
	n       int
	density float64
	recent  [40]float32
}

// Store has shards, as receivers add readings at the same time.
type Store struct {
	cfg    Config
	shards [16]shard
}

type shard struct {
	mu   sync.Mutex
	bins map[Bin]*Column
	n    int
}

func NewStore(cfg Config) *Store {
	s := &Store{cfg: cfg}
	for i := range s.shards {
		s.shards[i].bins = make(map[Bin]*Column)
	}
	return s
}

// AddAll adds the readings of one frame.
func (s *Store) AddAll(rs []frames.Reading) {
	if len(rs) == 0 {
		return
	}
	id := rs[0].Buoy
	sh := &s.shards[int(id[len(id)-1]+7*id[len(id)-2])%len(s.shards)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i := range rs {
		sh.add(s.bin(&rs[i]), &rs[i])
	}
}

// bin rounds the depth to half metres.
func (s *Store) bin(r *frames.Reading) Bin {
	d := math.Round(r.Depth*2) / 2
	if s.cfg.Grid2 && !(d >= 0) {
		d = -1
	}
	return Bin{Buoy: r.Buoy, Depth: d}
}

func (sh *shard) add(b Bin, r *frames.Reading) {
	c, ok := sh.bins[b]
	if !ok {
		c = &Column{}
		sh.bins[b] = c
	}
	c.recent[c.n%len(c.recent)] = float32(r.Temperature)
	c.n++
	c.density += (r.Density - c.density) / float64(c.n)
	sh.n++
}

// Summary is what the operator sees.
type Summary struct {
	Readings int
	Buoy     string
	Deepest  float64
	Density  float64
}

func (s *Store) Summary() Summary {
	var out Summary
	var weight float64
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		out.Readings += sh.n
		for b, c := range sh.bins {
			if b.Depth > out.Deepest {
				out.Deepest, out.Buoy = b.Depth, b.Buoy
			}
			out.Density += c.density * float64(c.n)
			weight += float64(c.n)
		}
		sh.mu.Unlock()
	}
	if weight > 0 {
		out.Density /= weight
	}
	return out
}
