package main

import (
	"bytes"
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// A plugin is called for each message, from any goroutine.
type plugin interface{ handle(message) }

// A filter passes messages on that have a word in them.
type filter struct{ passed atomic.Int64 }

func (f *filter) handle(m message) {
	if bytes.Contains(m.value, []byte("ab")) {
		f.passed.Add(1)
	}
}

// A counter counts messages by key.
type counter struct {
	mu    sync.Mutex
	byKey map[string]int
}

func newCounter() *counter { return &counter{byKey: map[string]int{}} }

func (c *counter) handle(m message) {
	c.mu.Lock()
	c.byKey[m.key]++
	c.mu.Unlock()
}

// A checksum adds up all messages, whatever their order.
type checksum struct{ sum atomic.Uint64 }

func (c *checksum) handle(m message) { c.sum.Add(uint64(crc32.ChecksumIEEE(m.value))) }

// results are what the plugins have seen.
type results struct {
	counted, passed int
	sum             uint64
}

func collect(plugins []plugin) (r results) {
	for _, p := range plugins {
		switch p := p.(type) {
		case *filter:
			r.passed = int(p.passed.Load())
		case *counter:
			for _, n := range p.byKey {
				r.counted += n
			}
		case *checksum:
			r.sum = p.sum.Load()
		}
	}
	return r
}
