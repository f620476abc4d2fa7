// Package duty checks the duties of the crew against the working time rules.
package duty

import (
	"sync"
	"time"

	"crewroster/internal/wire"
)

// Report is what the rules say of a duty.
type Report struct {
	Crew     string        `json:"crew"`
	Worked   time.Duration `json:"worked"`
	Longest  time.Duration `json:"longest_pause"`
	Metres   int           `json:"metres"`
	Breaches []string      `json:"breaches"`
}

// Board holds the current duty of each member of the crew.
type Board struct {
	mu      sync.Mutex
	duties  map[string]wire.Assignment
	breach  int
	applied int
}

// NewBoard makes an empty board.
func NewBoard() *Board { return &Board{duties: make(map[string]wire.Assignment)} }

// Assign checks a duty and puts it on the board.
func (b *Board) Assign(a *wire.Assignment) Report {
	r := Report{Crew: a.Crew, Breaches: []string{}}
	for i, l := range a.Legs {
		r.Worked += l.Arrives.Sub(l.Departs)
		r.Metres += l.Metres
		if i == 0 {
			continue
		}
		p := a.Legs[i-1]
		pause := l.Departs.Sub(p.Arrives)
		if pause < 0 {
			r.Breaches = append(r.Breaches, l.Train+" overlaps "+p.Train)
		}
		if p.To != l.From {
			r.Breaches = append(r.Breaches, l.Train+" starts elsewhere")
		}
		r.Longest = max(r.Longest, pause)
	}
	if r.Longest < 30*time.Minute && r.Worked > 6*time.Hour {
		r.Breaches = append(r.Breaches, "no pause of half an hour")
	}
	b.mu.Lock()
	b.duties[a.Crew] = *a
	b.applied++
	b.breach += len(r.Breaches)
	b.mu.Unlock()
	return r
}

// Release takes the duty of a member of the crew off the board.
func (b *Board) Release(crew string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.duties[crew]
	delete(b.duties, crew)
	b.applied++
	return ok
}

// Counts returns how many duties there are, and how many breaches were found.
func (b *Board) Counts() (applied, duties, breaches int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.applied, len(b.duties), b.breach
}
