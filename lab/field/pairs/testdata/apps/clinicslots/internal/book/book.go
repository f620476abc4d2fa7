// Package book keeps the diaries of the clinics.
package book

import (
	"fmt"
	"sort"
	"sync"
	"time"

	"clinicslots/internal/feed"
	"clinicslots/internal/zones"
)

// Clinic is one practice with its hours.
type Clinic struct {
	ID    string
	Name  string
	Zone  string
	Opens int // minutes after midnight
	Shuts int

	mu    sync.Mutex
	diary []span
}

type span struct{ from, to int64 }

// Slot is a wish that has been looked at.
type Slot struct {
	Clinic   *Clinic
	Local    time.Time
	Length   time.Duration
	Accepted bool
	Why      string
}

// Book is the set of diaries.
type Book struct {
	clock   zones.Clock
	clinics map[string]*Clinic
}

var places = []string{
	"Europe/Berlin", "Europe/London", "Europe/Lisbon", "America/New_York", "America/Chicago", "America/Denver",
	"America/Los_Angeles", "America/Sao_Paulo", "Australia/Sydney", "Asia/Tokyo", "Asia/Kolkata", "Africa/Johannesburg",
}

// New makes a book of n clinics.
func New(clock zones.Clock, n int) *Book {
	b := &Book{clock: clock, clinics: make(map[string]*Clinic, n)}
	for i := range n {
		c := &Clinic{
			ID:    fmt.Sprintf("C%03d", i),
			Name:  fmt.Sprintf("Practice no. %d", i),
			Zone:  places[i%len(places)],
			Opens: 7*60 + 30*(i%4),
			Shuts: 17*60 + 30*(i%5),
		}
		b.clinics[c.ID] = c
	}
	return b
}

// Place decides on a wish and notes it if it fits.
func (b *Book) Place(r feed.Request) (Slot, error) {
	c := b.clinics[r.Clinic]
	if c == nil {
		return Slot{}, fmt.Errorf("book: no clinic %q", r.Clinic)
	}
	local, err := b.clock.At(r.Start, c.Zone)
	if err != nil {
		return Slot{}, err
	}
	s := Slot{Clinic: c, Local: local, Length: r.Length}
	minute := local.Hour()*60 + local.Minute()
	switch {
	case local.Weekday() == time.Sunday:
		s.Why = "closed on Sundays"
	case minute < c.Opens || minute+int(r.Length/time.Minute) > c.Shuts:
		s.Why = "outside of the hours"
	case !c.reserve(r.Start.Unix(), r.Start.Add(r.Length).Unix()):
		s.Why = "taken"
	default:
		s.Accepted = true
	}
	return s, nil
}

func (c *Clinic) reserve(from, to int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := sort.Search(len(c.diary), func(i int) bool { return c.diary[i].to > from })
	if i < len(c.diary) && c.diary[i].from < to {
		return false
	}
	c.diary = append(c.diary, span{})
	copy(c.diary[i+1:], c.diary[i:])
	c.diary[i] = span{from, to}
	return true
}
