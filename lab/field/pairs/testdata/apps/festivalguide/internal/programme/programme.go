// Package programme knows which act plays on which stage.
package programme

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Gig is an act on a stage.
type Gig struct {
	Act   int       `json:"act"`
	Title string    `json:"title"`
	Stage string    `json:"stage"`
	Start time.Time `json:"start"`
}

// Programme of all days.
type Programme struct {
	days [][]Gig
}

// New makes a programme of some days.
func New(days, gigs int) *Programme {
	rnd := rand.New(rand.NewPCG(20, 25))
	first := time.Date(2025, 7, 4, 12, 0, 0, 0, time.UTC)
	p := &Programme{}
	for d := range days {
		var day []Gig
		for range gigs {
			act := rnd.IntN(400)
			day = append(day, Gig{
				Act:   act,
				Title: fmt.Sprintf("Set %d of act %d", d+1, act),
				Stage: fmt.Sprintf("stage %c", 'A'+rune(rnd.IntN(6))),
				Start: first.AddDate(0, 0, d).Add(time.Duration(rnd.IntN(660)) * time.Minute),
			})
		}
		p.days = append(p.days, day)
	}
	return p
}

// Next lists the n gigs of a day that begin after t, in order.
func (p *Programme) Next(day int, after time.Duration, n int) []Gig {
	gigs := p.days[day%len(p.days)]
	from := time.Date(2025, 7, 4, 12, 0, 0, 0, time.UTC).AddDate(0, 0, day%len(p.days)).Add(after)
	var out []Gig
	for _, g := range gigs {
		if !g.Start.Before(from) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b Gig) int { return a.Start.Compare(b.Start) })
	return out[:min(n, len(out))]
}
