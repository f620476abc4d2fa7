// Package ship has ships with a cargo.
package ship

import "runtime"

// A Ship unloads at a berth.
type Ship struct{ cargo []byte }

// New loads a ship.
func New(n int) *Ship {
	s := &Ship{cargo: make([]byte, 2048)}
	for i := range s.cargo {
		s.cargo[i] = byte(i * n)
	}
	return s
}

// A Port has berths.
type Port interface {
	Enter()
	Leave()
}

// Visit enters a port, unloads and leaves.
func (s *Ship) Visit(p Port) {
	p.Enter()
	defer p.Leave()
	sum := byte(0)
	for range 4 {
		for i := range s.cargo {
			sum += s.cargo[i]
			s.cargo[i] ^= sum
		}
		runtime.Gosched() // the crane turns
	}
}
