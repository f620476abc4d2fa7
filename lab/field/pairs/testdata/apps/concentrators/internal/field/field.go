// Package field has the concentrators that report once a day each.
package field

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"concentrators/internal/wire"
)

const (
	concentrators = 9000
	metersPer     = 100
)

// Report lets four uplinks send rate batches per second until the end.
func Report(take func([]byte) error, rate int, end time.Time) {
	var next atomic.Uint32
	var wg sync.WaitGroup
	const uplinks = 4
	pause := uplinks * time.Second / time.Duration(rate)
	for u := range uplinks {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(u), 77))
			b := wire.Batch{Registers: make([]wire.Register, metersPer)}
			var buf []byte
			for at := time.Now(); at.Before(end); at = at.Add(pause) {
				time.Sleep(time.Until(at))
				n := next.Add(1) - 1
				fill(&b, n%concentrators, int32(20000+n/concentrators), rnd)
				buf = wire.Append(buf[:0], &b)
				take(buf)
			}
		})
	}
	wg.Wait()
}

func fill(b *wire.Batch, id uint32, day int32, rnd *rand.Rand) {
	b.Concentrator = id
	for i := range b.Registers {
		r := &b.Registers[i]
		r.Meter = fmt.Sprintf("ESM%05d%04d", id, i)
		r.Day = day
		r.Flags = 0
		if rnd.IntN(100) == 0 {
			r.Flags = 1 << rnd.IntN(3)
		}
		base := 40 + rnd.Int32N(200)
		for j := range r.Wh {
			r.Wh[j] = base + rnd.Int32N(60)
		}
	}
}
