package evidence

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// arrivals lets goroutines come one after the other, each of which needs a place of few for some time.
func arrivals(n int, between, work time.Duration) {
	places := make(chan bool, 2)
	var wg sync.WaitGroup
	for range n {
		time.Sleep(between)
		wg.Add(1)
		go queues(&wg, places, work)
	}
	wg.Wait()
}

func queues(wg *sync.WaitGroup, places chan bool, work time.Duration) {
	defer wg.Done()
	places <- true
	time.Sleep(work)
	<-places
}

// TestLives: those that come faster than they get through live longer and longer, and those with room for all do not.
func TestLives(t *testing.T) {
	for _, c := range []struct {
		name        string
		work        time.Duration
		least, most float64 // of the last third's lives to the first third's
	}{{"a queue", 6 * time.Millisecond, 1.5, 50}, {"room for all", time.Millisecond, 0.3, 1.4}} {
		t.Run(c.name, func(t *testing.T) {
			err := attempt.Repeat(t, func() error { // a busy machine makes waits of its own
				recorded := traceHere(t)
				arrivals(150, 2*time.Millisecond, c.work)
				lives := load(t, Options{NoSource: true}, recorded()).Sched.Lives
				i := slices.IndexFunc(lives, func(l model.Lives) bool { return l.Function == "github.com/gowhy/gowhy/internal/read/evidence.queues" })
				if i < 0 {
					return errors.New("none of them is known")
				}
				l := lives[i]
				if longer := l.Last.Seconds() / l.First.Seconds(); l.Ended < 140 || longer < c.least || longer > c.most {
					return fmt.Errorf("Lives of %d = %v first, %v last, want %v to %v times as long", l.Ended, l.First, l.Last, c.least, c.most)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
