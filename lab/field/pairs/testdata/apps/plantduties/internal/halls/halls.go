// Package halls fills the roster, and plays the time of a plant, faster than it goes.
package halls

import (
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"time"

	"plantduties/internal/orders"
	"plantduties/internal/roster"
)

// Fill puts the duties of n machines in.
func Fill(r *roster.Roster, n int, now time.Time) error {
	rng := rand.New(rand.NewSource(9))
	for i := range n {
		m := fmt.Sprintf("press-%03d", i)
		at := fmt.Sprintf("%d %d", rng.Intn(60), rng.Intn(24))
		for j, when := range []string{
			at + " * * *",
			at + " * * 1-5",
			at + fmt.Sprintf(" * * %d", rng.Intn(7)),
			at + fmt.Sprintf(" %d * *", 1+rng.Intn(28)),
			at + fmt.Sprintf(" %d */3 *", 1+rng.Intn(28)),
			at + fmt.Sprintf(" %d %d *", 1+rng.Intn(28), 1+rng.Intn(12)),
		} {
			title := []string{"oil level", "shift inspection", "weekly lubrication", "monthly safety test", "quarterly alignment", "yearly overhaul"}[j]
			if err := r.Add(fmt.Sprintf("%s/%d", m, j), m, title, when, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run issues perSecond orders for the time given, by some workers.
func Run(r *roster.Roster, k *orders.Desk, perSecond int, d time.Duration) (int64, int64) {
	const workers = 4
	slots := make(chan struct{}, 256)
	var n, size atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range slots {
				b, err := k.Issue(r.Take())
				if err != nil {
					continue
				}
				n.Add(1)
				size.Add(int64(len(b)))
			}
		})
	}
	start := time.Now()
	for sent := 0; ; {
		el := time.Since(start)
		if el >= d {
			break
		}
		for due := int(el.Seconds() * float64(perSecond)); sent < due; sent++ {
			slots <- struct{}{}
		}
		time.Sleep(5 * time.Millisecond)
	}
	close(slots)
	wg.Wait()
	return n.Load(), size.Load()
}
