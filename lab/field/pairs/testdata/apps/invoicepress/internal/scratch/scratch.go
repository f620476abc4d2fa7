// Package scratch hands out buffers for documents.
package scratch

import (
	"bytes"
	"sync"
)

var (
	pool  sync.Pool
	limit = 16 << 10
)

// Configure is called once, before the first document.
func Configure(v2 bool) {
	if v2 {
		limit = 512 << 10
	}
}

// Get returns an empty buffer.
func Get() *bytes.Buffer {
	if b, ok := pool.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return bytes.NewBuffer(make([]byte, 0, 2<<10))
}

// Put gives a buffer back.
func Put(b *bytes.Buffer) {
	if b.Cap() > limit {
		return
	}
	pool.Put(b)
}
