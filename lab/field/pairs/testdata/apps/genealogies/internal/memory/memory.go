// Package memory divides the machine's memory among the parts of the program.
package memory

import "runtime/debug"

// Budget is what the program may use.
type Budget struct {
	Total   int64
	Workers int
	Shared  bool
}

// PerWorker is a worker's share for its scratch buffers.
func (b Budget) PerWorker() int64 { return b.Total / int64(b.Workers) }

// Scratch is the size of a worker's first buffer.
func (b Budget) Scratch() int { return int(min(b.PerWorker()/1024, 64<<10)) }

// Apply tells the runtime.
func (b Budget) Apply() {
	limit := b.PerWorker()
	if b.Shared {
		limit = b.Total
	}
	debug.SetMemoryLimit(limit)
}
