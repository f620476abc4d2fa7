// Package hikes plans tours over sections of trails.
package hikes

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"trailmaps/internal/cache"
	"trailmaps/internal/paths"
)

// Tour is the answer to a walker.
type Tour struct {
	Season   string `json:"season"`
	Sections []Leg  `json:"sections"`
	Climb    int    `json:"climb"`
}

// Leg is one section of a tour.
type Leg struct {
	Section int    `json:"section"`
	Climb   int    `json:"climb"`
	Profile []byte `json:"profile,omitempty"`
}

// Planner answers walkers.
type Planner struct {
	Cache    *cache.Cache
	Sections int

	Tours, Hits, Misses, Bytes atomic.Int64
}

func (p *Planner) profile(section int, season string) []byte {
	key := paths.Key(section, season)
	if v, ok := p.Cache.Get(key); ok {
		p.Hits.Add(1)
		return v
	}
	p.Misses.Add(1)
	v := paths.Profile(section, season)
	p.Cache.Set(key, v)
	return v
}

// Plan makes a tour of some sections.
func (p *Planner) Plan(sections []int, season string) ([]byte, error) {
	t := Tour{Season: season, Sections: make([]Leg, 0, len(sections))}
	for i, s := range sections {
		prof := p.profile(s, season)
		leg := Leg{Section: s, Climb: paths.Climb(prof)}
		if i == 0 {
			leg.Profile = prof
		}
		t.Climb += leg.Climb
		t.Sections = append(t.Sections, leg)
	}
	return json.Marshal(t)
}

// Warm computes the profiles of the first sections.
func (p *Planner) Warm(n int) {
	for s := n - 1; s >= 0; s-- {
		p.profile(s, "summer")
	}
}

// Season plans tours until the time is over.
func (p *Planner) Season(d time.Duration, walkers int) error {
	end := time.Now().Add(d)
	errs := make(chan error, walkers)
	var wg sync.WaitGroup
	for w := range walkers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 99))
			z := rand.NewZipf(r, 1.2, 50, uint64(p.Sections-1))
			sections := make([]int, 8)
			for time.Now().Before(end) {
				for i := range sections {
					sections[i] = int(z.Uint64())
				}
				b, err := p.Plan(sections, "summer")
				if err != nil {
					errs <- err
					return
				}
				p.Bytes.Add(int64(len(b)))
				p.Tours.Add(1)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
