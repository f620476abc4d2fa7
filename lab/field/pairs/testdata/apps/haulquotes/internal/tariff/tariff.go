// Package tariff knows zones, classes and surcharges.
package tariff

import (
	"hash/fnv"
	"sync"
	"time"

	"haulquotes/internal/lanes"
)

type Class uint8

// Book gives the price parts of a shipment.
type Book struct {
	mu    sync.RWMutex
	zones map[string]int32
	n     int
}

func NewBook(depots int) *Book { return &Book{zones: make(map[string]int32), n: depots} }

// Zone maps a post code to its depot.
func (b *Book) Zone(post string) int32 {
	b.mu.RLock()
	z, ok := b.zones[post]
	b.mu.RUnlock()
	if ok {
		return z
	}
	h := fnv.New32a()
	h.Write([]byte(post))
	z = int32(h.Sum32() % uint32(b.n))
	b.mu.Lock()
	b.zones[post] = z
	b.mu.Unlock()
	return z
}

func (b *Book) PerKm(c Class, day time.Time) [lanes.Modes]float64 {
	f := 1 + float64(c)*0.21
	if wd := day.Weekday(); wd == time.Saturday || wd == time.Sunday {
		f *= 1.35
	}
	return [lanes.Modes]float64{1.1 * f, 0.74 * f, 0.52 * f, 4.9 * f}
}

func (b *Book) Handling(c Class) float64 { return 38 + 12*float64(c) }
