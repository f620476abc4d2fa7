// Package courts keeps the slots of tennis courts.
package courts

import (
	"errors"
	"sync"
)

// ErrTaken is returned for a slot that is booked.
var ErrTaken = errors.New("courts: slot is taken")

// Slot is an hour on a court.
type Slot struct {
	Court int `json:"court"`
	Day   int `json:"day"`
	Hour  int `json:"hour"`
}

// Plan knows who has which slot.
type Plan struct {
	mu    sync.Mutex
	taken map[Slot]string
}

// NewPlan is empty.
func NewPlan() *Plan { return &Plan{taken: map[Slot]string{}} }

// Book gives the slot to club.
func (p *Plan) Book(s Slot, club string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.taken[s]; ok {
		return ErrTaken
	}
	p.taken[s] = club
	return nil
}

// Cancel frees the slot if club has it.
func (p *Plan) Cancel(s Slot, club string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[s] == club {
		delete(p.taken, s)
	}
}

// Free lists the free hours of a court on a day.
func (p *Plan) Free(court, day int) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var hours []int
	for h := 7; h < 22; h++ {
		if _, ok := p.taken[Slot{court, day, h}]; !ok {
			hours = append(hours, h)
		}
	}
	return hours
}
