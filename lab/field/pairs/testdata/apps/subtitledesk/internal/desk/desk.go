// Package desk has scenes recognised side by side and writes them in order.
package desk

import (
	"sync"
	"time"

	"subtitledesk/internal/reel"
	"subtitledesk/internal/speech"
	"subtitledesk/internal/track"
)

type result struct {
	scene reel.Scene
	words []string
}

// Desk works on one film after the other.
type Desk struct {
	Recogniser *speech.Recogniser
	Workers    int
	Ahead      int // scenes that may be under way
	Scenes     int
}

// Run takes scenes until the time is over or there are no more.
func (d *Desk) Run(scenes []reel.Scene, w *track.Writer, until time.Time) {
	type ticket struct {
		scene reel.Scene
		done  chan result
	}
	work := make(chan ticket)
	order := make(chan chan result, max(d.Ahead-1, 0))
	var wg sync.WaitGroup
	for range d.Workers {
		wg.Go(func() {
			for t := range work {
				t.done <- result{t.scene, d.Recogniser.Words(t.scene)}
			}
		})
	}
	wg.Go(func() {
		defer close(order)
		defer close(work)
		for _, s := range scenes {
			if !time.Now().Before(until) {
				return
			}
			t := ticket{s, make(chan result, 1)}
			order <- t.done
			work <- t
		}
	})
	for done := range order {
		r := <-done
		w.Add(r.scene.Seconds, r.words)
		d.Scenes++
	}
	wg.Wait()
}
