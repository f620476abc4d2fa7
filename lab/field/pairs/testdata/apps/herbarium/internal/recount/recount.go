// Package recount counts the species of the archive anew.
package recount

import (
	"log"
	"strings"
	"sync"
	"time"

	"herbarium/internal/archive"
)

// Census has the counts of the latest recount.
type Census struct {
	mu     sync.RWMutex
	names  map[string]int
	terms  map[string]int
	Rounds int
}

// Of says how many sheets have a name.
func (c *Census) Of(name string) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.names[name]
}

// Job recounts from time to time.
type Job struct {
	Archive *archive.Archive
	Census  *Census
	Width   int
}

func (j *Job) round() {
	slots := make(chan struct{}, j.Width)
	var mu sync.Mutex
	var wg sync.WaitGroup
	names, terms := map[string]int{}, map[string]int{}
	for i := range j.Archive.Drawers() {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			n, t, err := j.drawer(i)
			if err != nil {
				log.Print(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			merge(names, n)
			merge(terms, t)
		})
	}
	wg.Wait()
	j.Census.mu.Lock()
	defer j.Census.mu.Unlock()
	j.Census.names, j.Census.terms = names, terms
	j.Census.Rounds++
}

func (j *Job) drawer(i int) (names, terms map[string]int, err error) {
	all, err := j.Archive.Drawer(i)
	if err != nil {
		return nil, nil, err
	}
	names, terms = map[string]int{}, map[string]int{}
	for _, s := range all {
		names[s.Name()]++
		for _, w := range strings.Fields(s.Label) {
			terms[w]++
		}
	}
	return names, terms, nil
}

func merge(into, from map[string]int) {
	for k, n := range from {
		into[k] += n
	}
}

// Run makes a round every period until the deadline.
func (j *Job) Run(period time.Duration, until time.Time) {
	t := time.NewTicker(period)
	defer t.Stop()
	for now := time.Now(); now.Before(until); now = <-t.C {
		j.round()
	}
}
