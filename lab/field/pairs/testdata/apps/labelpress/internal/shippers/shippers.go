// Package shippers sends orders like the shops do, whenever they have one.
package shippers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"labelpress/internal/desk"
)

type Report struct {
	Sent, Printed, Busy, Failed int
	Bytes                       int
	P50, P99                    time.Duration
}

// Run sends orders at the given rate for the given time.
func Run(d *desk.Desk, rate int, run time.Duration) (rep Report) {
	ctx, cancel := context.WithTimeout(context.Background(), run)
	defer cancel()
	r := rand.New(rand.NewPCG(17, 2))
	var mu sync.Mutex
	var wg sync.WaitGroup
	var took []time.Duration
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for ctx.Err() == nil {
		<-tick.C
		for due := int(time.Since(begin).Seconds() * float64(rate)); rep.Sent < due; rep.Sent++ {
			body := order(r, rep.Sent)
			wg.Add(1)
			go func() {
				defer wg.Done()
				start := time.Now()
				n, err := d.Label(ctx, body)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					rep.Printed++
					rep.Bytes += n
					took = append(took, time.Since(start))
				case errors.Is(err, desk.ErrBusy):
					rep.Busy++
				default:
					rep.Failed++
				}
			}()
		}
	}
	wg.Wait()
	if slices.Sort(took); len(took) > 0 {
		rep.P50, rep.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	return rep
}

func order(r *rand.Rand, n int) []byte {
	o := desk.Order{
		Parcel: fmt.Sprintf("00340%015d", r.Int64N(1e15)),
		To:     []string{fmt.Sprintf("Customer %d", n), "Long Street 12", fmt.Sprintf("%05d", 10000+r.IntN(900))},
		Extra:  map[string]string{"service": "standard", "weight": fmt.Sprint(r.IntN(30000)), "shop": fmt.Sprint(r.IntN(500))},
	}
	b, _ := json.Marshal(o)
	return b
}
