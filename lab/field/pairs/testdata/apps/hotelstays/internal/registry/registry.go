// Package registry knows who stays in which room.
package registry

import (
	"errors"
	"sync"
	"time"

	"hotelstays/internal/folio"
)

// Stay is a guest's stay from arrival to departure.
type Stay struct {
	ID      int64
	Guest   string
	Room    int
	Plate   string
	Arrived time.Time
	Lines   []folio.Charge
}

// Options choose between interfaces of the house systems.
type Options struct {
	Garage2 bool
}

// Registry finds stays by number, room and number plate.
type Registry struct {
	opts    Options
	mu      sync.RWMutex
	next    int64
	byID    map[int64]*Stay
	byRoom  map[int]*Stay
	byPlate map[string]*Stay
}

var (
	ErrTaken   = errors.New("registry: room is taken")
	ErrUnknown = errors.New("registry: no such stay")
)

func New(opts Options) *Registry {
	return &Registry{opts: opts, byID: make(map[int64]*Stay), byRoom: make(map[int]*Stay), byPlate: make(map[string]*Stay)}
}

// CheckIn opens a stay.
func (r *Registry) CheckIn(guest string, room int, plate string) (*Stay, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byRoom[room] != nil {
		return nil, ErrTaken
	}
	r.next++
	s := &Stay{ID: r.next, Guest: guest, Room: room, Plate: plate, Arrived: time.Now(), Lines: make([]folio.Charge, 0, 16)}
	r.byID[s.ID] = s
	r.byRoom[room] = s
	if plate != "" {
		r.byPlate[plate] = s
	}
	return s, nil
}

// SetPlate notes the plate that the garage camera has read for a stay.
func (r *Registry) SetPlate(id int64, plate string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byID[id]
	if !ok {
		return ErrUnknown
	}
	if r.opts.Garage2 && s.Plate != "" && s.Plate != plate {
		delete(r.byPlate, s.Plate)
	}
	s.Plate = plate
	r.byPlate[plate] = s
	return nil
}

// Post adds a charge to the folio of a room.
func (r *Registry) Post(room int, c folio.Charge) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byRoom[room]
	if !ok {
		return ErrUnknown
	}
	s.Lines = append(s.Lines, c)
	return nil
}

// MayLeave tells the barrier whether a car belongs to a guest.
func (r *Registry) MayLeave(plate string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.byPlate[plate]
	return ok
}

// CheckOut ends the stay of a room.
func (r *Registry) CheckOut(room int) (*Stay, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byRoom[room]
	if !ok {
		return nil, ErrUnknown
	}
	delete(r.byRoom, room)
	delete(r.byID, s.ID)
	if s.Plate != "" {
		delete(r.byPlate, s.Plate)
	}
	return s, nil
}

// InHouse counts the open stays.
func (r *Registry) InHouse() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byID)
}
