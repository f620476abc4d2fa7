// Package batch pays the day's settlements out.
package batch

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"payoutsync/internal/notify"
	"payoutsync/internal/payout"
)

type Runner struct {
	N         *notify.Notifier
	Paid      atomic.Int64
	Postponed atomic.Int64
}

// Run takes settlements at the given rate; those without an answer in time go to the next day.
func (b *Runner) Run(ctx context.Context, rate int) {
	in := make(chan payout.Payout, 256)
	var wg sync.WaitGroup
	for range 32 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := range in {
				b.pay(p)
			}
		}()
	}
	r := rand.New(rand.NewPCG(2, 2))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	begin, n := time.Now(), 0
	for ctx.Err() == nil {
		<-tick.C
		for due := int(time.Since(begin).Seconds() * float64(rate)); n < due; n++ {
			in <- payout.Random(r, n)
		}
	}
	close(in)
	wg.Wait()
}

func (b *Runner) pay(p payout.Payout) {
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	if err := b.N.Send(ctx, p); err != nil {
		b.Postponed.Add(1)
		return
	}
	b.Paid.Add(1)
}
