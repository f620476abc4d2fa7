// Package registry holds the animals of a boarding kennel by their chip number.
package registry

import (
	"fmt"
	"hash/fnv"
	"sync"
	"time"
)

// Animal is one boarder.
type Animal struct {
	Chip    uint64
	Name    string
	Breed   string
	Kennel  int
	Arrived time.Time
	Notes   []string
}

// Registry is safe for concurrent use.
type Registry struct {
	mu      sync.RWMutex
	animals map[uint64]*Animal
}

var breeds = []string{"beagle", "collie", "poodle", "terrier", "whippet", "spaniel"}

// Open fills a registry with n animals.
func Open(n int) *Registry {
	r := &Registry{animals: make(map[uint64]*Animal, n)}
	day := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	for i := 0; i < n; i++ {
		chip := ChipOf(i)
		r.animals[chip] = &Animal{
			Chip:    chip,
			Name:    fmt.Sprintf("Rex-%d", i),
			Breed:   breeds[i%len(breeds)],
			Kennel:  i % 180,
			Arrived: day.Add(time.Duration(i) * time.Minute),
			Notes:   []string{"dry food", "walk at nine"},
		}
	}
	return r
}

// ChipOf gives the chip number of the i-th animal.
func ChipOf(i int) uint64 {
	return 985000000000000 + uint64(i)*7919
}

// Find returns a copy of the animal.
func (r *Registry) Find(chip uint64) (Animal, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	a, ok := r.animals[chip]
	if !ok {
		return Animal{}, false
	}
	return *a, true
}

// Move puts an animal into another kennel.
func (r *Registry) Move(chip uint64, kennel int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.animals[chip]
	if ok {
		a.Kennel = kennel
	}
	return ok
}

// Seal is the check number printed on the kennel card.
func (a *Animal) Seal() uint64 {
	h := fnv.New64a()
	for round := 0; round < 12; round++ {
		fmt.Fprintf(h, "%d|%s|%s|%d", a.Chip, a.Name, a.Breed, a.Kennel)
	}
	return h.Sum64()
}
