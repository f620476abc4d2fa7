// Package board holds the occupancy of the wards.
package board

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"wardbeds/internal/adt"
)

// Bed is one place in a ward.
type Bed struct {
	ID      string    `json:"id"`
	Patient string    `json:"patient,omitempty"`
	Note    string    `json:"note,omitempty"`
	Since   time.Time `json:"since"`
}

// Display shows pages of the board on a wall.
type Display interface {
	Show(page []byte) error
}

// Board is the state of all wards.
type Board struct {
	mu    sync.RWMutex
	order []string
	wards map[string][]Bed
}

// New returns a board with empty wards.
func New(wards, beds int) *Board {
	b := &Board{wards: make(map[string][]Bed, wards)}
	for w := range wards {
		name := fmt.Sprintf("W%02d", w)
		b.order = append(b.order, name)
		for i := range beds {
			b.wards[name] = append(b.wards[name], Bed{ID: fmt.Sprintf("%02d", i)})
		}
	}
	return b
}

// Apply carries a movement out.
func (b *Board) Apply(e adt.Event) error {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	beds := b.wards[e.Ward]
	for i := range beds {
		if beds[i].ID != e.Bed {
			continue
		}
		if e.Kind == "A03" {
			beds[i] = Bed{ID: e.Bed, Since: now}
		} else {
			beds[i] = Bed{ID: e.Bed, Patient: e.Patient, Note: e.Note, Since: now}
		}
		return nil
	}
	return fmt.Errorf("board: no bed %s in ward %s", e.Bed, e.Ward)
}

// Free returns the free beds of a ward.
func (b *Board) Free(ward string) []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []string
	for _, bed := range b.wards[ward] {
		if bed.Patient == "" {
			out = append(out, bed.ID)
		}
	}
	return out
}

type page struct {
	Ward string `json:"ward"`
	Beds []Bed  `json:"beds"`
}

// Refresh shows all wards, in their order, as of one moment.
func (b *Board) Refresh(d Display) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, ward := range b.order {
		p, err := json.Marshal(page{ward, b.wards[ward]})
		if err != nil {
			return err
		}
		if err := d.Show(p); err != nil {
			return fmt.Errorf("board: ward %s: %w", ward, err)
		}
	}
	return nil
}

// RefreshPages is Refresh page by page.
func (b *Board) RefreshPages(d Display) error {
	pages := make([]page, 0, len(b.order))
	b.mu.RLock()
	for _, ward := range b.order {
		pages = append(pages, page{ward, append([]Bed(nil), b.wards[ward]...)})
	}
	b.mu.RUnlock()
	for _, pg := range pages {
		p, err := json.Marshal(pg)
		if err != nil {
			return err
		}
		if err := d.Show(p); err != nil {
			return fmt.Errorf("board: ward %s: %w", pg.Ward, err)
		}
	}
	return nil
}
