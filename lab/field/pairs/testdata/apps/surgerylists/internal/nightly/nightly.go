// Package nightly makes the lists of all hospitals.
package nightly

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"surgerylists/internal/board"
	"surgerylists/internal/feed"
	"surgerylists/internal/plan"
)

type Run struct {
	Planner plan.Planner
	feeds   [][]byte

	Lists, Cases, Overruns atomic.Int64
}

func New(p plan.Planner, hospitals int) *Run {
	r := rand.New(rand.NewPCG(21, 8))
	n := &Run{Planner: p}
	day := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	for i := range hospitals {
		n.feeds = append(n.feeds, feed.Make(r, day.AddDate(0, 0, i), 150+r.IntN(200)))
	}
	return n
}

func (n *Run) list(i int, buf *bytes.Buffer) error {
	text := n.feeds[i%len(n.feeds)]
	cases, err := feed.Parse(text)
	if err != nil {
		return err
	}
	ordered := n.Planner.Order(cases)
	n.Overruns.Add(int64(n.Planner.Overruns(ordered)))
	if _, err := board.Print(buf, fmt.Sprintf("Hospital %d", i%len(n.feeds)), ordered, 60); err != nil {
		return err
	}
	n.Cases.Add(int64(len(cases)))
	n.Lists.Add(1)
	return nil
}

// Work makes list after list until the time is over.
func (n *Run) Work(d time.Duration, workers int) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	errs := make(chan error, workers)
	end := time.Now().Add(d)
	for range workers {
		wg.Go(func() {
			var buf bytes.Buffer
			for time.Now().Before(end) {
				if err := n.list(int(next.Add(1)), &buf); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
