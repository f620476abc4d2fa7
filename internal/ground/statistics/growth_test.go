package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draw returns a number of events that come by chance, so many on average.
func draw(r *rand.Rand, mean float64) (n float64) {
	for p, least := r.Float64(), math.Exp(-mean); p > least; n++ {
		p *= r.Float64()
	}
	return n
}

// growthRuns is how often each course is drawn; rates below are known to some thousandths.
const growthRuns = 4000

// courses draws counts of such a rate in each piece, and says of which part of them holds.
func courses(t *testing.T, rate func(piece int) float64, level float64, holds func(Growth) bool) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	times := 0.0
	for range growthRuns {
		counts, exposure := make([]float64, 12), make([]float64, 12)
		for i := range counts {
			exposure[i] = 100 + 10*float64(i%3)
			counts[i] = draw(r, rate(i)*exposure[i]/100)
		}
		if holds(PoissonGrowth(counts, exposure, level)) {
			times++
		}
	}
	return times / growthRuns
}

// The interval has what the rates were drawn with as often as it says, whatever the slope.
func TestPoissonGrowthInterval(t *testing.T) {
	for _, slope := range []float64{0, 0.05, 0.3} {
		rate := func(piece int) float64 { return 10 * (1 + slope*float64(piece)) }
		var first, last float64
		for i := range 4 {
			exposure := func(piece int) float64 { return 100 + 10*float64(piece%3) }
			first += rate(i) * exposure(i) / (exposure(0) + exposure(1) + exposure(2) + exposure(3))
			last += rate(8+i) * exposure(8+i) / (exposure(8) + exposure(9) + exposure(10) + exposure(11))
		}
		truth := last / first
		if in := courses(t, rate, 0.95, func(g Growth) bool { return g.Low <= truth && truth <= g.High }); in < 0.94 {
			t.Errorf("slope %v: %.1f%% of intervals have the growth, want 95%%", slope, 100*in)
		}
	}
}

// What grows evenly is called steady, what begins at once is not, wherever it begins.
func TestPoissonGrowthSteady(t *testing.T) {
	steady := func(g Growth) bool { return g.Steady }
	if got := courses(t, func(piece int) float64 { return 10 * (1 + float64(piece)) }, 0.95, steady); got < 0.95 {
		t.Errorf("of rates that grow evenly %.1f%% are steady, want 95%%", 100*got)
	}
	for at := 1; at < 12; at++ {
		step := func(piece int) float64 {
			if piece < at {
				return 10
			}
			return 60
		}
		if got := courses(t, step, 0.95, steady); got > 0.05 {
			t.Errorf("of rates that step at %d %.1f%% are steady, want at most 5%%", at, 100*got)
		}
	}
}

// Nothing that was counted, and nothing to count in, is no growth without bounds.
func TestPoissonGrowthOfNothing(t *testing.T) {
	for name, counts := range map[string][]float64{"nothing": make([]float64, 12), "at the end": {0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0}} {
		exposure := make([]float64, 12)
		for i := range exposure {
			exposure[i] = 10
		}
		if g := PoissonGrowth(counts, exposure, 0.99); !(g.Low < 1 && g.High > 1) {
			t.Errorf("%s: growth from %v to %v, want 1 between them", name, g.Low, g.High)
		}
		if g := PoissonGrowth(counts, make([]float64, 12), 0.99); math.IsNaN(g.Low) || math.IsInf(g.High, 0) {
			t.Errorf("%s, in nothing: growth from %v to %v", name, g.Low, g.High)
		}
	}
}
