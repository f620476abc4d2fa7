// Package block has the memory that samples are recorded into, which the collector need not know of.
package block

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Samples is how many fit into a block.
const Samples = 32 << 10

// A Block is a piece of the trace of a station.
type Block struct {
	Station int
	Start   int64 // number of the first sample
	raw     []byte
	samples []int32
	n       int
}

// New maps the memory of a block.
func New(station int, start int64) (*Block, error) {
	raw, err := syscall.Mmap(-1, 0, Samples*4, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("block of station %d: %w", station, err)
	}
	return &Block{
		Station: station,
		Start:   start,
		raw:     raw,
		samples: unsafe.Slice((*int32)(unsafe.Pointer(&raw[0])), Samples),
	}, nil
}

// Append takes as many samples as fit, and says how many.
func (b *Block) Append(samples []int32) int {
	n := copy(b.samples[b.n:], samples)
	b.n += n
	return n
}

// Full reports whether no more fit.
func (b *Block) Full() bool { return b.n == Samples }

// Samples are those that were taken. They are gone after Release.
func (b *Block) Samples() []int32 { return b.samples[:b.n] }

// Release gives the memory back.
func (b *Block) Release() error {
	raw := b.raw
	b.raw, b.samples, b.n = nil, nil, 0
	return syscall.Munmap(raw)
}
