// Package network has crossings and roads.
package network

// A Road leads to a crossing.
type Road struct {
	To     *Crossing
	Metres int
}

// A Crossing has roads.
type Crossing struct {
	ID    int
	Roads []Road
}

// A Network is all of them.
type Network struct{ crossings []*Crossing }

// Generate makes a network up.
func Generate(n int) *Network {
	w := &Network{}
	for i := range n {
		w.crossings = append(w.crossings, &Crossing{ID: i})
	}
	for i, c := range w.crossings {
		for k := range 4 {
			c.Roads = append(c.Roads, Road{w.crossings[(i*(k+2)+k*977+1)%n], 100 + (i*31+k)%900})
		}
	}
	return w
}

// At is a crossing.
func (w *Network) At(id int) *Crossing { return w.crossings[id] }
