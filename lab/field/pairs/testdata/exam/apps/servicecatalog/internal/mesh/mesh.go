// Package mesh is the proxies, each of which keeps routes to the instances of a service.
package mesh

import (
	"cmp"
	"context"
	"hash/crc32"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"servicecatalog/internal/catalog"
)

const ringPoints = 24 // of each instance

type point struct {
	hash uint32
	addr string
}

// A Mesh is proxies.
type Mesh struct {
	c       *catalog.Store
	wg      sync.WaitGroup
	updates atomic.Int64
	routes  atomic.Int64
}

// Start starts proxies, which watch services until the context ends.
func Start(ctx context.Context, c *catalog.Store, services []string, proxies int) *Mesh {
	m := &Mesh{c: c}
	for i := range proxies {
		m.wg.Go(func() { m.proxy(ctx, services[i%len(services)]) })
	}
	return m
}

// Wait waits until all proxies have ended.
func (m *Mesh) Wait() { m.wg.Wait() }

// Updates is how often a proxy got news.
func (m *Mesh) Updates() int64 { return m.updates.Load() }

// Routes is how many points the rings had together.
func (m *Mesh) Routes() int64 { return m.routes.Load() }

func (m *Mesh) proxy(ctx context.Context, service string) {
	var index uint64
	var ring []point
	for {
		v, err := m.c.Watch(ctx, service, index)
		if err != nil {
			return
		}
		index = v.Index
		ring = place(ring[:0], v.Instances)
		m.updates.Add(1)
		m.routes.Add(int64(len(ring)))
	}
}

// place puts the healthy instances on a ring.
func place(ring []point, instances []catalog.Instance) []point {
	var key []byte
	for _, in := range instances {
		if !in.Healthy {
			continue
		}
		for k := range ringPoints {
			key = strconv.AppendInt(append(key[:0], in.Addr...), int64(k), 10)
			ring = append(ring, point{crc32.ChecksumIEEE(key), in.Addr})
		}
	}
	slices.SortFunc(ring, func(a, b point) int { return cmp.Compare(a.hash, b.hash) })
	return ring
}
