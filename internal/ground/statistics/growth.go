package statistics

import "math"

// A Growth is how much more often something happened at the end of a row of pieces than
// at its beginning, for what there was of it to happen in: samples for the operations
// that were done.
type Growth struct {
	// Ratio is the rate in the last third of the pieces by that in the first, between Low
	// and High at the level that was asked for.
	Ratio, Low, High float64
	// Steady is set where a straight line through the rates is nearer to the counts than
	// one step is, wherever that may be: something that grew, and not something that began.
	Steady bool
}

// growthRounds is how often the line's weights follow from its last fit; they no longer
// change after three.
const growthRounds = 8

// PoissonGrowth compares counts by what they were counted in, both by piece, of which there
// are three or a multiple. Counts that come by chance have their mean as variance; where they
// stray further from the line than that, in bursts, the interval is wider by as much.
func PoissonGrowth(counts, exposure []float64, level float64) Growth {
	n := len(counts)
	third := n / 3
	first, last := Sum(counts[:third])+0.5, Sum(counts[n-third:])+0.5 // half a count keeps both from being 0
	g := Growth{Ratio: Quotient(Quotient(last, Sum(exposure[n-third:])), Quotient(first, Sum(exposure[:third])))}
	line := poissonLine(counts, exposure)
	stray := 0.0
	for i, mean := range line {
		stray += Quotient((counts[i]-mean)*(counts[i]-mean), mean)
	}
	wider := max(1, stray/float64(n-2))
	half := Normal(1-(1-level)/2) * math.Sqrt(wider*(1/first+1/last))
	g.Low, g.High = g.Ratio*math.Exp(-half), g.Ratio*math.Exp(half)
	g.Steady = deviance(counts, line) < stepDeviance(counts, exposure)
	return g
}

// poissonLine returns what each count would be if the rate were a straight line over what was
// counted in so far: least squares, weighed by the line's own variance.
func poissonLine(counts, exposure []float64) []float64 {
	mean := make([]float64, len(counts))
	level := Quotient(Sum(counts), Sum(exposure))
	for i := range mean {
		mean[i] = level * exposure[i]
	}
	for range growthRounds {
		// The rate of a piece is its count by its exposure, with the variance mean ÷ exposure².
		var w, wx, wy, wxx, wxy, x float64
		for i, e := range exposure {
			x += e / 2
			if mean[i] > 0 {
				weight := e * e / mean[i]
				y := counts[i] / e
				w, wx, wy, wxx, wxy = w+weight, wx+weight*x, wy+weight*y, wxx+weight*x*x, wxy+weight*x*y
			}
			x += e / 2
		}
		slope := Quotient(w*wxy-wx*wy, w*wxx-wx*wx)
		begin := Quotient(wy-slope*wx, w)
		x = 0
		for i, e := range exposure {
			// A line that is below nothing is next to it: there a count may still come by chance.
			mean[i] = max(e*(begin+slope*(x+e/2)), level*e/100)
			x += e
		}
	}
	return mean
}

// stepDeviance returns how far the counts are from two even rates, one after the other, at
// the best place for the step.
func stepDeviance(counts, exposure []float64) float64 {
	least := math.Inf(1)
	mean := make([]float64, len(counts))
	for at := range counts {
		before, after := Quotient(Sum(counts[:at]), Sum(exposure[:at])), Quotient(Sum(counts[at:]), Sum(exposure[at:]))
		for i, e := range exposure {
			mean[i] = after * e
			if i < at {
				mean[i] = before * e
			}
		}
		least = min(least, deviance(counts, mean))
	}
	return least
}

// deviance returns how far counts are from their means, as Poisson's distribution has it.
func deviance(counts, mean []float64) (d float64) {
	for i, k := range counts {
		d += 2 * (mean[i] - k)
		if k > 0 {
			d += 2 * k * math.Log(k/mean[i])
		}
	}
	return d
}
