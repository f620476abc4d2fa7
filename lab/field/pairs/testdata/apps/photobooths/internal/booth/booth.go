// Package booth has the guests who take pictures.
package booth

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"photobooths/internal/frame"
	"photobooths/internal/spool"
)

// Fair is a day with guests.
type Fair struct {
	Spool    *spool.Spool
	Patience time.Duration

	mu     sync.Mutex
	Took   []time.Duration
	Prints int
	Busy   int
	Late   int
	Sum    uint64
}

// Hold lets rate guests a second come for a while.
func (f *Fair) Hold(dur time.Duration, rate int) {
	var wg sync.WaitGroup
	r := rand.New(rand.NewPCG(6, 6))
	begin := time.Now()
	for i := 0; ; i++ {
		at := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if at.Sub(begin) > dur {
			break
		}
		time.Sleep(time.Until(at))
		pic := frame.Shoot(r, 160, 120)
		wg.Go(func() { f.guest(pic) })
	}
	wg.Wait()
	slices.Sort(f.Took)
}

func (f *Fair) guest(pic *frame.Picture) {
	ctx, cancel := context.WithTimeout(context.Background(), f.Patience)
	defer cancel()
	t0 := time.Now()
	sum, err := f.Spool.Print(ctx, pic)
	took := time.Since(t0)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Took = append(f.Took, took)
	switch {
	case errors.Is(err, spool.ErrBusy):
		f.Busy++
	case err != nil:
		f.Late++
	default:
		f.Prints++
		f.Sum += uint64(sum)
	}
}
