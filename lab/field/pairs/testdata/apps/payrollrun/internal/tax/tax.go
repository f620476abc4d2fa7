// Package tax computes what is kept from pay.
package tax

import "math"

type step struct {
	above, rate float64
}

var steps = []step{{0, 0}, {950, 0.14}, {1420, 0.22}, {2600, 0.31}, {4800, 0.42}, {22000, 0.45}}

// Income returns the tax of a month's pay in cents.
func Income(cents int64, class, children int) int64 {
	base := float64(cents)/100*(1-0.01*float64(class)) - 180*float64(children)
	var due float64
	for i, s := range steps {
		top := math.Inf(1)
		if i+1 < len(steps) {
			top = steps[i+1].above
		}
		if base > s.above {
			due += (min(base, top) - s.above) * s.rate
		}
	}
	return int64(math.Round(due * 100))
}

// Social returns the contributions of a month's pay in cents.
func Social(cents int64, children int) int64 {
	ceiling := min(cents, 517500)
	care := 0.017
	if children == 0 {
		care += 0.006
	}
	return int64(math.Round(float64(ceiling)*(0.073+0.008+care) + float64(min(cents, 755000))*(0.093+0.013)))
}
