// Package smooth takes the noise out of elevation models.
package smooth

import "terrainshade/internal/dem"

// Filter is a box filter that is applied several times.
type Filter struct {
	Radius int
	Passes int
	Banded bool
	tmp    *dem.Grid
	sums   []float32
}

// Apply smooths the grid in place.
func (f *Filter) Apply(g *dem.Grid) {
	if f.tmp == nil || f.tmp.W != g.W || f.tmp.H != g.H {
		f.tmp = dem.New(g.W, g.H)
		f.sums = make([]float32, g.W)
	}
	for range f.Passes {
		f.across(f.tmp, g)
		if f.Banded {
			f.bands(g, f.tmp)
		} else {
			f.down(g, f.tmp)
		}
	}
}

func (f *Filter) across(dst, src *dem.Grid) {
	r := f.Radius
	scale := 1 / float32(2*r+1)
	for y := range src.H {
		in, out := src.Row(y), dst.Row(y)
		var sum float32
		for k := -r; k <= r; k++ {
			sum += in[clamp(k, src.W)]
		}
		for x := range out {
			out[x] = sum * scale
			sum += in[clamp(x+r+1, src.W)] - in[clamp(x-r, src.W)]
		}
	}
}

func (f *Filter) down(dst, src *dem.Grid) {
	r := f.Radius
	scale := 1 / float32(2*r+1)
	for x := range src.W {
		var sum float32
		for k := -r; k <= r; k++ {
			sum += src.Z[clamp(k, src.H)*src.W+x]
		}
		for y := range src.H {
			dst.Z[y*dst.W+x] = sum * scale
			sum += src.Z[clamp(y+r+1, src.H)*src.W+x] - src.Z[clamp(y-r, src.H)*src.W+x]
		}
	}
}

func (f *Filter) bands(dst, src *dem.Grid) {
	r := f.Radius
	scale := 1 / float32(2*r+1)
	sums := f.sums
	clear(sums)
	for k := -r; k <= r; k++ {
		for x, z := range src.Row(clamp(k, src.H)) {
			sums[x] += z
		}
	}
	for y := range src.H {
		out := dst.Row(y)
		in, old := src.Row(clamp(y+r+1, src.H)), src.Row(clamp(y-r, src.H))
		for x := range out {
			out[x] = sums[x] * scale
			sums[x] += in[x] - old[x]
		}
	}
}

func clamp(i, n int) int {
	if i < 0 {
		return 0
	}
	if i >= n {
		return n - 1
	}
	return i
}
