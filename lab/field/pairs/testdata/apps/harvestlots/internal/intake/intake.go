// Package intake runs the stations that take in lots.
package intake

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"harvestlots/internal/grading"
	"harvestlots/internal/lots"
	"harvestlots/internal/scope"
)

type Station struct {
	Name  string
	Fresh bool

	Taken  atomic.Int64
	Cents  atomic.Int64
	Failed atomic.Int64
}

func (s *Station) accept(ctx context.Context, l lots.Lot) {
	r := grading.Grade(ctx, l)
	s.Cents.Add(int64(r.Price * 100))
	s.Taken.Add(1)
}

// Serve takes lots from the queue until it is closed.
func (s *Station) Serve(ctx context.Context, queue <-chan []byte) {
	ctx = scope.WithStation(ctx, s.Name)
	if s.Fresh {
		for msg := range queue {
			l, err := lots.Decode(msg)
			if err != nil {
				s.Failed.Add(1)
				continue
			}
			s.accept(scope.WithLot(ctx, l.ID), l)
		}
		return
	}
	for msg := range queue {
		l, err := lots.Decode(msg)
		if err != nil {
			s.Failed.Add(1)
			continue
		}
		ctx = scope.WithLot(ctx, l.ID)
		s.accept(ctx, l)
	}
}

// Season feeds the stations at a rate (lots per second).
func Season(ctx context.Context, stations []*Station, msgs [][]byte, rate int, d time.Duration) {
	queue := make(chan []byte, 512)
	var wg sync.WaitGroup
	for i, s := range stations {
		wg.Go(func() { s.Serve(scope.WithOperator(ctx, fmt.Sprintf("op%d", i)), queue) })
	}
	const step = 20 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	end := time.Now().Add(d)
	for i := 0; time.Now().Before(end); {
		<-tick.C
		for range rate / int(time.Second/step) {
			queue <- msgs[i%len(msgs)]
			i++
		}
	}
	close(queue)
	wg.Wait()
}
