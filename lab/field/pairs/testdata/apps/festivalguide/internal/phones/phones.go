// Package phones are the visitors' phones that reload the page.
package phones

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Stats of all phones.
type Stats struct {
	mu     sync.Mutex
	Times  []time.Duration
	Failed int
}

// Use reloads the page with pauses until the deadline.
func (s *Stats) Use(c *http.Client, base string, seed uint64, until time.Time) {
	rnd := rand.New(rand.NewPCG(seed, 4))
	for time.Now().Before(until) {
		start := time.Now()
		err := get(c, fmt.Sprintf("%s/next?day=%d&minute=%d", base, rnd.IntN(3), rnd.IntN(500)))
		s.mu.Lock()
		if err != nil {
			s.Failed++
		} else {
			s.Times = append(s.Times, time.Since(start))
		}
		s.mu.Unlock()
		time.Sleep(time.Duration(20+rnd.IntN(80)) * time.Millisecond)
	}
}

func get(c *http.Client, url string) error {
	r, err := c.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("phones: %s", r.Status)
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err
}

// Median of the times of answers.
func (s *Stats) Median() time.Duration {
	if len(s.Times) == 0 {
		return 0
	}
	slices.Sort(s.Times)
	return s.Times[len(s.Times)/2]
}
