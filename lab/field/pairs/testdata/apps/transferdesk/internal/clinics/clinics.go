// Package clinics has the hospitals that ask for transfers.
package clinics

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"transferdesk/internal/transfer"
)

// Result is what the hospitals saw.
type Result struct {
	Times                      []time.Duration
	Failed, Isolated, Uncovers int
}

// Ask sends rate requests per second until end.
func Ask(d *transfer.Desk, rate int, end time.Time) *Result {
	res := new(Result)
	var mu sync.Mutex
	var wg sync.WaitGroup
	rnd := rand.New(rand.NewPCG(6, 6))
	specialties := []string{"cardio", "stroke", "trauma", "burns", "neonatal"}
	for at := time.Now(); at.Before(end); at = at.Add(time.Duration(rnd.ExpFloat64() * float64(time.Second) / float64(rate))) {
		time.Sleep(time.Until(at))
		r := transfer.Request{
			Patient: rnd.IntN(1e6), Specialty: specialties[rnd.IntN(len(specialties))],
			Acuity: 1 + rnd.IntN(5), From: "county",
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			start := time.Now()
			p, err := d.Plan(ctx, r)
			took := time.Since(start)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				res.Failed++
				return
			}
			res.Times = append(res.Times, took)
			if p.Isolation.Germ {
				res.Isolated++
			}
			if !p.Cover.Covered {
				res.Uncovers++
			}
		})
	}
	wg.Wait()
	return res
}
