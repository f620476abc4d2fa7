// Package desk asks for fares, as the desks of travel agents do.
package desk

import (
	"context"
	"sync"
	"time"

	"shuttlefares/internal/fares"
	"shuttlefares/internal/rpc"
)

// Run lets n desks ask one question after the other, and returns how many were answered.
func Run(s *rpc.Server, n int, d time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	counts, errs := make([]int, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { counts[i], errs[i] = serve(ctx, s, i) })
	}
	wg.Wait()
	total := 0
	for i, err := range errs {
		if err != nil {
			return 0, err
		}
		total += counts[i]
	}
	return total, nil
}

// serve asks until the day is over: four customers, then a breath.
func serve(ctx context.Context, s *rpc.Server, desk int) (n int, err error) {
	for ; ctx.Err() == nil; n++ {
		q := fares.Question{From: (desk + n) % 24, To: (desk*5 + n*7) % 24, Seats: 1 + n%4, Day: n % 365}
		if _, err := Cheapest(ctx, s, q); err != nil {
			return n, err
		}
		if n%4 == 3 {
			time.Sleep(time.Millisecond)
		}
	}
	return n, nil
}

// Cheapest asks for the fares of a day and returns the lowest one.
func Cheapest(ctx context.Context, s *rpc.Server, q fares.Question) (fares.Fare, error) {
	var a fares.Answer
	if err := s.Call(ctx, "k-desk", "fares.Day", q, &a); err != nil {
		return fares.Fare{}, err
	}
	best := a.Fares[0]
	for _, f := range a.Fares[1:] {
		if f.Cents < best.Cents {
			best = f
		}
	}
	return best, nil
}
