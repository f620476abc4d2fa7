// Package tickets keeps the weighings of the site.
package tickets

import (
	"errors"
	"slices"
	"sync"
	"time"

	"weighbridge/internal/axles"
)

// Ticket is a visit: weighed on the way in and on the way out.
type Ticket struct {
	ID       int64
	Plate    string
	Material string
	Driver   string
	In, Out  *axles.Samples
	At       time.Time
}

// Slip is what remains of a finished ticket for the day's list.
type Slip struct {
	ID    int64
	Plate string
	Net   int
}

// ErrUnknown is returned for tickets that are not open.
var ErrUnknown = errors.New("tickets: not open")

// Registry has the open tickets, who they belong to, and the latest slips.
type Registry struct {
	mu      sync.Mutex
	trim    bool
	next    int64
	open    map[int64]*Ticket
	byPlate map[string][]*Ticket
	slips   []Slip
	turn    int
}

// New keeps the latest n slips.
func New(n int, trim bool) *Registry {
	return &Registry{trim: trim, open: map[int64]*Ticket{}, byPlate: map[string][]*Ticket{}, slips: make([]Slip, n)}
}

// Enter opens a ticket.
func (r *Registry) Enter(plate, driver, material string, in *axles.Samples) *Ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	t := &Ticket{ID: r.next, Plate: plate, Driver: driver, Material: material, In: in, At: time.Now()}
	r.open[t.ID] = t
	r.byPlate[plate] = append(r.byPlate[plate], t)
	return t
}

// Current returns the latest ticket of a plate.
func (r *Registry) Current(plate string) (*Ticket, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.byPlate[plate]
	if len(of) == 0 || r.open[of[len(of)-1].ID] == nil {
		return nil, ErrUnknown
	}
	return of[len(of)-1], nil
}

// Leave closes a ticket.
func (r *Registry) Leave(id int64, out *axles.Samples) (Slip, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.open[id]
	if !ok {
		return Slip{}, ErrUnknown
	}
	delete(r.open, id)
	t.Out = out
	s := Slip{ID: id, Plate: t.Plate, Net: t.Out.Weight() - t.In.Weight()}
	r.slips[r.turn%len(r.slips)] = s
	r.turn++
	if r.trim {
		r.forget(t)
	}
	return s, nil
}

func (r *Registry) forget(t *Ticket) {
	of := slices.DeleteFunc(r.byPlate[t.Plate], func(o *Ticket) bool { return o == t })
	if len(of) == 0 {
		delete(r.byPlate, t.Plate)
		return
	}
	r.byPlate[t.Plate] = of
}

// Open is the number of vehicles on the site.
func (r *Registry) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}
