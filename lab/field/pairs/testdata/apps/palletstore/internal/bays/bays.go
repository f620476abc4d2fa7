// Package bays knows what stands where in the high store.
package bays

import "errors"

// ErrFull is returned when no bay takes a pallet.
var ErrFull = errors.New("no bay takes it")

const (
	levels = 10
	places = 48
)

// Pallet is what is put away.
type Pallet struct {
	SSCC   string `json:"sscc"`
	Zone   string `json:"zone"`
	Kg     int    `json:"kg"`
	Height int    `json:"height"`
	Width  int    `json:"width"`
	Goods  string `json:"goods"`
}

// Place is where a pallet stands.
type Place struct {
	Bay, Level, Pos int
}

// Bay is one rack: Cells has the number of the pallet in each place, or 0.
type Bay struct {
	Number int
	Zone   string
	Clear  int
	MaxKg  int
	Kg     int
	Free   int
	Cells  [levels][places]uint32
}

// Plan is all bays of the store.
type Plan struct {
	bays []Bay
	v2   bool
	seq  uint32
	used int
}

// NewPlan returns a store of n empty bays.
func NewPlan(n int, v2 bool) *Plan {
	p := &Plan{bays: make([]Bay, n), v2: v2}
	zones := []string{"dry", "cool", "frozen", "bulk", "adr"}
	for i := range p.bays {
		p.bays[i] = Bay{
			Number: i,
			Zone:   zones[i*7%len(zones)],
			Clear:  140 + i/5%5*30,
			MaxKg:  48000 + i%3*6000,
			Free:   levels * places,
		}
	}
	return p
}

// Used is how many places are taken.
func (p *Plan) Used() int { return p.used }

// Store finds a place for the pallet near the given bay and takes it.
func (p *Plan) Store(t *Pallet, near int) (Place, uint32, error) {
	bay := p.choose(t, near)
	if bay < 0 {
		return Place{}, 0, ErrFull
	}
	b := &p.bays[bay]
	level, pos, ok := b.gap(t.Width)
	if !ok {
		b.Free = 0
		return Place{}, 0, ErrFull
	}
	p.seq++
	for i := range t.Width {
		b.Cells[level][pos+i] = p.seq
	}
	b.Kg += t.Kg
	b.Free -= t.Width
	p.used += t.Width
	return Place{bay, level, pos}, p.seq, nil
}

// Clear takes a pallet out again.
func (p *Plan) Clear(at Place, number uint32, kg int) {
	b := &p.bays[at.Bay]
	for i := at.Pos; i < places && b.Cells[at.Level][i] == number; i++ {
		b.Cells[at.Level][i] = 0
		b.Free++
		p.used--
	}
	b.Kg -= kg
}

func (p *Plan) choose(t *Pallet, near int) int {
	best, bestScore := -1, 1<<30
	if p.v2 {
		for i := range p.bays {
			b := &p.bays[i]
			if b.Zone != t.Zone || b.Free < 2*t.Width || b.Clear < t.Height || b.Kg+t.Kg > b.MaxKg {
				continue
			}
			if s := score(b.Number-near, b.Clear-t.Height, b.Free); s < bestScore {
				best, bestScore = i, s
			}
		}
		return best
	}
	for i, b := range p.bays {
		if b.Zone != t.Zone || b.Free < 2*t.Width || b.Clear < t.Height || b.Kg+t.Kg > b.MaxKg {
			continue
		}
		if s := score(b.Number-near, b.Clear-t.Height, b.Free); s < bestScore {
			best, bestScore = i, s
		}
	}
	return best
}

func score(way, air, free int) int {
	return max(way, -way)*3 + air + (levels*places-free)/8
}

func (b *Bay) gap(width int) (level, pos int, ok bool) {
	for l := range b.Cells {
		run := 0
		for i, c := range b.Cells[l] {
			if c != 0 {
				run = 0
				continue
			}
			if run++; run == width {
				return l, i - width + 1, true
			}
		}
	}
	return 0, 0, false
}
