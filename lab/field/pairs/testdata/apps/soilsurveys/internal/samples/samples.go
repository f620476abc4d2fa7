// Package samples holds the measured drill cores of a field.
package samples

import "math/rand/v2"

// Core is one drill core with its horizons.
type Core struct {
	Lat, Lon float64
	Horizons []Horizon
	Spectrum []byte
}

// Horizon is a layer of a core.
type Horizon struct {
	Top, Bottom                  int
	PH, Carbon, Nitrogen, Potash float64
	Texture                      string
}

// Field is what a survey covers.
type Field struct {
	ID    int
	Farm  string
	Cores []Core
}

var textures = []string{"sandy loam", "silty clay", "loess", "peat"}

// Fields makes n surveyed fields.
func Fields(n int) []Field {
	r := rand.New(rand.NewPCG(12, 40))
	out := make([]Field, n)
	for i := range out {
		f := Field{ID: i, Farm: "farm " + textures[r.IntN(4)]}
		for range 120 + r.IntN(80) {
			c := Core{Lat: 50 + r.Float64(), Lon: 9 + r.Float64()}
			c.Spectrum = make([]byte, 1500+r.IntN(1000))
			for k := range c.Spectrum {
				c.Spectrum[k] = byte(r.IntN(200))
			}
			top := 0
			for range 3 + r.IntN(3) {
				b := top + 5 + r.IntN(40)
				c.Horizons = append(c.Horizons, Horizon{top, b, 4 + 4*r.Float64(), 5 * r.Float64(), r.Float64(), 30 * r.Float64(), textures[r.IntN(4)]})
				top = b
			}
			f.Cores = append(f.Cores, c)
		}
		out[i] = f
	}
	return out
}

// Mean is the mean of a value over the depth of all cores.
func (f *Field) Mean(value func(*Horizon) float64) float64 {
	var sum, depth float64
	for i := range f.Cores {
		for k := range f.Cores[i].Horizons {
			h := &f.Cores[i].Horizons[k]
			d := float64(h.Bottom - h.Top)
			sum += d * value(h)
			depth += d
		}
	}
	return sum / depth
}
