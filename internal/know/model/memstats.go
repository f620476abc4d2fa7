package model

import "time"

// MemStats are the runtime's own counts of its memory at one moment, as far as gowhy
// uses them. Their meaning is that of the fields of runtime.MemStats.
type MemStats struct {
	HeapAlloc, HeapSys, HeapReleased uint64 // bytes
	TotalAlloc                       uint64 // bytes, since the program's start
	NextGC                           uint64 // bytes; the goal of the next collection
	NumGC                            uint64
	LastGC                           time.Time // zero when there was no collection
	GCCPUFraction                    float64   // of the CPU that the program could use since its start
	// Classes are what the runtime took, in bytes, as [MemoryClass] names them, and "total".
	Classes map[string]uint64
}
