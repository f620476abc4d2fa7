// Package admission refuses orders while the service is short of memory.
package admission

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Gate decides whether an order may come in.
type Gate struct {
	ceiling uint64
	used    func() uint64
	refused atomic.Int64
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// NewGate returns a gate for a ceiling in bytes. With a period, the use is looked at once in a period.
func NewGate(ceiling uint64, period time.Duration) *Gate {
	g := &Gate{ceiling: ceiling, used: heapInUse}
	if period > 0 {
		var last atomic.Uint64
		last.Store(heapInUse())
		go func() {
			for range time.Tick(period) {
				last.Store(heapInUse())
			}
		}()
		g.used = last.Load
	}
	return g
}

// Admit reports whether there is room for one more order.
func (g *Gate) Admit() bool {
	if g.used() > g.ceiling {
		g.refused.Add(1)
		return false
	}
	return true
}

// Refused is the number of orders turned away.
func (g *Gate) Refused() int64 { return g.refused.Load() }
