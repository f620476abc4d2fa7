package findings

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Each course of a cost, of two processes and of twenty: hours since the window began give
// the cost, 0 is none.
func TestStepOf(t *testing.T) {
	at := func(from float64, by float64) func(h float64) float64 {
		return func(h float64) float64 {
			if h >= from {
				return 100 * (1 + by)
			}
			return 100
		}
	}
	for name, c := range map[string]struct {
		cost func(hours float64) float64
		bin  int  // of the step; 0 where none is to be claimed
		many bool // two processes have too few times for it
	}{
		"a step":            {at(2, 0.3), 24, false},
		"early":             {at(0.75, 0.3), 9, false},
		"late":              {at(3.25, 0.3), 39, true},
		"small":             {at(2, 0.08), 24, true},
		"too small":         {at(2, 0.03), 0, false},
		"too late to tell":  {at(3.75, 0.3), 0, false},
		"down":              {at(2, -0.3), 0, false},
		"flat":              {func(float64) float64 { return 100 }, 0, false},
		"a ramp":            {func(h float64) float64 { return 100 + 10*h }, 0, false},
		"a day's curve":     {func(h float64) float64 { return 100 + 20*math.Sin(h*2*math.Pi/24) }, 0, false},
		"each hour a batch": {func(h float64) float64 { return 100 + 40*math.Floor(math.Mod(h, 1)+0.5) }, 0, false},
		"twenty minutes":    {func(h float64) float64 { return 100 + 60*(at(2, 1)(h)-at(2.33, 1)(h))/100 }, 0, false},
		"it is over":        {func(h float64) float64 { return 100 + 60*(at(1, 1)(h)-at(3, 1)(h))/100 }, 0, false},
		"up and up again":   {func(h float64) float64 { return at(1, 0.3)(h) + at(2.75, 0.4)(h) }, 0, false},
		"two, up and down":  {func(h float64) float64 { return at(1, 0.3)(h) - at(2.5, 0.3)(h) + 100 }, 0, false},
		"silent for a while": {func(h float64) float64 {
			if h > 1 && h < 1.5 {
				return 0
			}
			return at(2.5, 0.3)(h)
		}, 30, false},
		"new": {func(h float64) float64 {
			if h < 2 {
				return 0
			}
			return 100
		}, 0, false},
	} {
		for _, n := range []int{2, 20} {
			random := rand.New(rand.NewPCG(7, uint64(n)))
			costs := make([]cost, n)
			for i := range costs {
				costs[i] = make(cost, bins)
				for b := range bins {
					costs[i][b] = math.NaN()
					if x := c.cost((time.Duration(b) * bin).Hours()); x > 0 {
						costs[i][b] = math.Log(x*float64(1+i)) + 0.05*random.NormFloat64()
					}
				}
			}
			s, ok := stepOf(costs)
			claimed := ok && s.p < alpha/10
			want := c.bin > 0 && (n > 2 || !c.many)
			if claimed != want || want && max(s.at-c.bin, c.bin-s.at) > 1 {
				t.Errorf("%s, %d processes: claimed %v at bin %d, want %v at %d: %+v", name, n, claimed, s.at, want, c.bin, s)
			}
		}
	}
}

// Little is claimed of noise that all processes have in common and that wanders.
func TestStepOfNoise(t *testing.T) {
	claimed := 0
	const fleets = 100
	for seed := range uint64(fleets) {
		random := rand.New(rand.NewPCG(seed, 1))
		costs := make([]cost, 1+int(seed)%30)
		for i := range costs {
			costs[i] = make(cost, dayBins+bins)
		}
		wander := 0.0
		for b := range dayBins + bins {
			wander = 0.9*wander + 0.02*random.NormFloat64()
			for i := range costs {
				costs[i][b] = wander + 0.05*random.NormFloat64()
			}
		}
		day, today := make([]cost, len(costs)), make([]cost, len(costs))
		for i, c := range costs {
			day[i], today[i] = c[:dayBins], c[dayBins:]
		}
		if s, ok := stepOf(today); ok && s.p < alpha && s.unusualInDay(day) {
			claimed++
		}
	}
	if claimed > fleets/100 {
		t.Errorf("a step is claimed in %d of %d fleets that have none", claimed, fleets)
	}
}
