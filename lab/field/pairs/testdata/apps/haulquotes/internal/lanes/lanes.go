// Package lanes holds the depot network with the distances by mode.
package lanes

import (
	"math"
	"math/rand/v2"
)

type Mode uint8

const (
	Road Mode = iota
	Rail
	Barge
	Air
	Modes
)

var detour = [Modes]float64{1.18, 1.31, 1.74, 1.02}

type Leg struct {
	From, To int32
	Mode     Mode
	Km       float64
}

// Network is read-only after Build.
type Network struct {
	n  int
	km [Modes][]float32
}

func Build(n int) *Network {
	r := rand.New(rand.NewPCG(7, 11))
	xs, ys := make([]float64, n), make([]float64, n)
	for i := range xs {
		xs[i], ys[i] = r.Float64()*1800, r.Float64()*1400
	}
	w := &Network{n: n}
	for m := range w.km {
		t := make([]float32, n*n)
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				dx, dy := xs[i]-xs[j], ys[i]-ys[j]
				t[i*n+j] = float32(math.Sqrt(dx*dx+dy*dy) * detour[m])
			}
		}
		w.km[m] = t
	}
	return w
}

func (w *Network) Depots() int { return w.n }

// Route finds the cheapest pair of legs over one hub, or the direct leg.
func (w *Network) Route(from, to int32, perKm [Modes]float64, handling float64) []Leg {
	best, hub, mode := math.Inf(1), int32(-1), Road
	for m := Road; m < Modes; m++ {
		a := w.km[m][int(from)*w.n : (int(from)+1)*w.n]
		b := w.km[m][int(to)*w.n : (int(to)+1)*w.n]
		for h := range a {
			c := float64(a[h]+b[h])*perKm[m] + handling*(1+float64(h%5)*0.1)
			if c < best {
				best, hub, mode = c, int32(h), m
			}
		}
	}
	direct := float64(w.km[Road][int(from)*w.n+int(to)])
	if direct*perKm[Road] <= best {
		return []Leg{{from, to, Road, direct}}
	}
	return []Leg{
		{from, hub, mode, float64(w.km[mode][int(from)*w.n+int(hub)])},
		{hub, to, mode, float64(w.km[mode][int(hub)*w.n+int(to)])},
	}
}
