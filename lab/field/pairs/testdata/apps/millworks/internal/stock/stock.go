// Package stock knows how many pieces lie in the stores.
package stock

import (
	"hash/fnv"
	"sync"

	"millworks/internal/catalogue"
)

// Store counts pieces by number.
type Store struct {
	mu     sync.Mutex
	pieces map[string]int
}

// Fill returns a store for the machines' parts.
func Fill(machines []*catalogue.Part) *Store {
	s := &Store{pieces: map[string]int{}}
	for _, m := range machines {
		m.Walk(func(p *catalogue.Part) {
			h := fnv.New32a()
			h.Write([]byte(p.Number))
			s.pieces[p.Number] = int(h.Sum32() % 40)
		})
	}
	return s
}

// Missing returns the single pieces of the machine that the store has not enough of.
func (s *Store) Missing(m *catalogue.Part, machines int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	m.Walk(func(p *catalogue.Part) {
		if len(p.Parts) == 0 && s.pieces[p.Number] < machines {
			out = append(out, p.Number)
		}
	})
	return out
}
