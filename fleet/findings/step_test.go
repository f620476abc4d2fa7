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

// steep is how much the costs of these tests fall in each bin: with nothing to choose by, the
// moment of a step would be the first that has most of it before and after.
const steep = 1e-4

// costly returns costs of bins that fall all the time, and rise by so much from a bin on.
func costly(bins, at int, by float64) cost {
	c := make(cost, bins)
	for b := range c {
		if c[b] = -steep * float64(b); b >= at {
			c[b] += by
		}
	}
	return c
}

// silence makes a cost unknown in some bins.
func (c cost) silence(from, until int) cost {
	for b := from; b < until; b++ {
		c[b] = math.NaN()
	}
	return c
}

// add adds to a cost in some bins.
func (c cost) add(from, until int, by float64) cost {
	for b := from; b < until; b++ {
		c[b] += by
	}
	return c
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }

// On each side of a moment an hour is compared, or what there is.
func TestSides(t *testing.T) {
	for at, want := range map[int][4]int{24: {12, 24, 24, 36}, 6: {0, 6, 6, 18}, 12: {0, 12, 12, 24}, 42: {30, 42, 42, 48}, 36: {24, 36, 36, 48}} {
		before, after := sides(at, 48)
		if got := [4]int{before[0], before[1], after[0], after[1]}; got != want {
			t.Errorf("sides(%d, 48) = %v, want %v", at, got, want)
		}
	}
}

// The medians of both sides are compared where four bins of each are known.
func TestDifference(t *testing.T) {
	for name, c := range map[string]struct {
		cost cost
		at   int
		want float64
		ok   bool
	}{
		"a step":          {costly(48, 24, 0.5), 24, 0.5 - 12*steep, true},
		"an hour later":   {costly(48, 24, 0.5), 36, -12 * steep, true},
		"half of it":      {costly(48, 24, 0.5), 18, 0.25 - 12*steep, true}, // six bins of each are after it
		"four before":     {costly(48, 24, 0.5).silence(0, 20), 24, 0.5 - 8*steep, true},
		"three before":    {costly(48, 24, 0.5).silence(0, 21), 24, 0, false},
		"four after":      {costly(48, 24, 0.5).silence(28, 48), 24, 0.5 - 8*steep, true},
		"three after":     {costly(48, 24, 0.5).silence(27, 48), 24, 0, false},
		"nothing for now": {costly(48, 24, 0.5).silence(0, 48), 24, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := c.cost.difference(c.at)
			if ok != c.ok || math.Abs(got-c.want) > steep/4*10 || ok && c.at != 18 && !near(got, c.want) {
				t.Errorf("difference(%d) = %g, %v, want %g, %v", c.at, got, ok, c.want, c.ok)
			}
		})
	}
	each, median := differences([]cost{costly(48, 24, 0.5), costly(48, 24, 0).silence(0, 24), costly(48, 24, 0.1)}, 24)
	if len(each) != 2 || !near(each[0], 0.5-12*steep) || !near(each[1], 0.1-12*steep) || !near(median, 0.3-12*steep) {
		t.Errorf("differences() = %v, %g, want 0.5 and 0.1, 0.3", each, median)
	}
}

// A moment has half an hour on each side.
func TestMoves(t *testing.T) {
	m := moves([]cost{costly(48, 24, 0.5), costly(48, 24, 0.1)})
	if len(m) != 48 {
		t.Fatalf("moves() has %d bins, want 48", len(m))
	}
	for b, size := range m {
		if known := !math.IsNaN(size); known != (b >= 6 && b <= 42) {
			t.Errorf("moves()[%d] = %g", b, size)
		}
	}
	if !near(m[24], 0.3-12*steep) || !near(m[12], -12*steep) || !near(m[42], -9*steep) {
		t.Errorf("moves() = %v", m)
	}
}

// Each process counts beside its own median, where it sent something.
func TestMeanCost(t *testing.T) {
	got := meanCost([]cost{{1, 2, 3, math.NaN()}, {10, math.NaN(), 30, math.NaN()}})
	for b, want := range (cost{(-1.0 - 10) / 2, 0, (1.0 + 10) / 2, math.NaN()}) {
		if !near(got[b], want) {
			t.Errorf("meanCost()[%d] = %g, want %g", b, got[b], want)
		}
	}
}

// A step is as large as it is beside what the cost moves by all the time, in each process, and as
// likely as its times and its processes have it.
func TestStepFigures(t *testing.T) {
	repeat := func(n int, c cost) (list []cost) {
		for range n {
			list = append(list, c)
		}
		return list
	}
	const apart = 2.0 / 2704156 // 12 of 24 are less than all others
	const moments = 37
	for name, c := range map[string]struct {
		costs []cost
		at    int
		size  float64
		p     float64
	}{
		"one":      {repeat(1, costly(48, 24, 0.3)), 24, 0.3 - 1.5*steep, apart * moments},
		"eleven":   {repeat(11, costly(48, 24, 0.3)), 24, 0.3 - 1.5*steep, apart * moments},
		"twelve":   {repeat(12, costly(48, 24, 0.3)), 24, 0.3 - 1.5*steep, 2.0 / (1 << 12) * moments},
		"forty":    {repeat(40, costly(48, 24, 0.3)), 24, 0.3 - 1.5*steep, apart * moments}, // its times, whichever they are
		"early":    {repeat(1, costly(48, 12, 0.3)), 12, 0.3, apart * moments},
		"late":     {repeat(1, costly(48, 36, 0.3)), 36, 0.3, apart * moments},
		"at once":  {repeat(1, costly(48, 6, 0.3)), 6, 0.3, 2.0 / 18564 * moments}, // 6 of 18
		"few bins": {repeat(1, costly(48, 24, 0.3).silence(0, 20).silence(26, 33).silence(34, 35)), 24, 0.3, 2.0 / 70 * 37},
	} {
		t.Run(name, func(t *testing.T) {
			s, ok := stepOf(c.costs)
			if !ok || s.at != c.at || math.Abs(s.size-c.size) > 20*steep || math.Abs(s.p-min(1, c.p)) > 1e-3*c.p || len(s.each) != len(c.costs) {
				t.Fatalf("stepOf() = %+v, %v, want one of %g at %d, p %g", s, ok, c.size, c.at, c.p)
			}
			if name != "few bins" && name != "at once" && !near(s.size, c.size) {
				t.Errorf("stepOf() = one of %g, want %g", s.size, c.size)
			}
			for _, d := range s.each {
				if !near(d, s.size) {
					t.Errorf("each = %v, want %g", s.each, s.size)
				}
			}
			if got := s.ratio(); !near(got, math.Exp(s.size)) {
				t.Errorf("ratio() = %g, want %g", got, math.Exp(s.size))
			}
		})
	}
	if n := (&step{each: []float64{0.1, 0, -0.1, 0.2}}).dearer(); n != 2 {
		t.Errorf("dearer() = %d of two that rise, one that falls and one that stays", n)
	}
}

// A cost that falls all the time by so much that the moments after a step are as cheap as those
// before it are not told apart until the fall is taken off.
func TestStepBesideDrift(t *testing.T) {
	c := make(cost, bins)
	for b := range c {
		if c[b] = -0.01 * float64(b); b >= 36 {
			c[b] += 0.32
		}
	}
	s, ok := stepOf([]cost{c})
	if want := 37 * 2.0 / 2704156; !ok || s.at != 36 || !near(s.size, 0.32) || math.Abs(s.p-want) > 1e-9 {
		t.Errorf("stepOf() = %+v, %v, want one of 0.32 at 36, p %g", s, ok, want)
	}
}

// A step is 5% or more, comes at once, and is there: half of it in the first quarter of an hour and
// in the last half.
func TestStepStands(t *testing.T) {
	for name, c := range map[string]struct {
		cost cost
		want bool
	}{
		"6%":   {costly(48, 24, 0.0583), true},
		"4.5%": {costly(48, 24, 0.0440), false},
		"8%":   {costly(48, 24, 0.0770), true},
		"2.8%": {costly(48, 24, 0.0276), false},
		// What falls at the end is no drift: beside it the step is larger, by an eighth of it.
		"half of it at the end":    {costly(48, 24, 0.3).add(42, 48, -0.13), true},
		"less at the end":          {costly(48, 24, 0.3).add(42, 48, -0.16), false},
		"in the end for a quarter": {costly(48, 24, 0.3).add(45, 48, -0.29), true},
		"in the end for longer":    {costly(48, 24, 0.3).add(44, 48, -0.29), false},
		"silent at the end":        {costly(48, 24, 0.3).silence(42, 48), false},
		"silent once it came":      {costly(48, 24, 0.3).silence(24, 30).add(12, 13, -0.1), false},
		"one late bin":             {costly(48, 24, 0.3).add(24, 25, -0.29), true},
		"slowly":                   {costly(48, 24, 0.3).add(24, 26, -0.16), false},
		"in a quarter of an hour":  {costly(48, 24, 0.3).add(24, 27, -0.16), false},
		"up and up again":          {costly(48, 12, 0.3).add(42, 48, 0.16), false},
		"and then a little":        {costly(48, 12, 0.3).add(42, 48, 0.14), true},
		"down and up":              {costly(48, 36, 0.3).add(24, 48, -0.16), false},
		"down a little, and up":    {costly(48, 36, 0.3).add(24, 48, -0.14), true},
		"too young":                {costly(48, 44, 0.3), false},
		"beside nothing":           {costly(48, 24, 0.3).silence(0, 13).silence(36, 45), false},
	} {
		t.Run(name, func(t *testing.T) {
			if s, ok := stepOf([]cost{c.cost}); ok != c.want {
				t.Errorf("stepOf() = %+v, %v, want %v", s, ok, c.want)
			}
		})
	}
	if s, ok := stepOf(nil); ok {
		t.Errorf("stepOf() of no processes = %+v, true, want none", s)
	}
}

// A step is twice as large as any other move, up or down, of the window and of the day before, of
// which half must be known.
func TestUnusual(t *testing.T) {
	s := step{size: 0.1}
	for other, want := range map[float64]bool{0.049: true, 0.051: false, -0.049: true, -0.051: false, 0: true} {
		if got := s.unusual([]float64{0, other}); got != want {
			t.Errorf("unusual(%g) of one of 0.1 = %v, want %v", other, got, want)
		}
	}
	for name, c := range map[string]struct {
		costs []cost
		want  bool
	}{
		"no processes":      {nil, false},
		"a quiet day":       {[]cost{costly(288, 0, 0)}, true},
		"a step of 0.048":   {[]cost{costly(288, 100, 0.048)}, true},
		"a step of 0.053":   {[]cost{costly(288, 100, 0.053)}, false},
		"a fall of 0.053":   {[]cost{costly(288, 100, -0.053)}, false},
		"half of the day":   {[]cost{costly(288, 0, 0).silence(153, 288)}, true}, // 144 moments have enough on both sides
		"a moment less":     {[]cost{costly(288, 0, 0).silence(152, 288)}, false},
		"half, and a step":  {[]cost{costly(288, 50, 1).silence(153, 288)}, false},
		"nothing was known": {[]cost{costly(288, 0, 0).silence(0, 288)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.unusualInDay(c.costs); got != c.want {
				t.Errorf("unusualInDay() = %v, want %v", got, c.want)
			}
		})
	}
}
