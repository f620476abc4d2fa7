package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noises are shapes of noise around zero as their centre of symmetry.
var noises = map[string]func(*rand.Rand) float64{
	"normal": func(r *rand.Rand) float64 { return r.NormFloat64() },
	// The difference of two skewed ones, as of two runs that are sometimes slow.
	"skewed runs": func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) - math.Exp(r.NormFloat64()) },
	"heavy tails": func(r *rand.Rand) float64 {
		return r.NormFloat64() / math.Sqrt((r.ExpFloat64()+r.ExpFloat64()/2)/1.5)
	},
}

// The interval holds the truth as often as it says, for few pairs too.
func TestBootstrapCoverage(t *testing.T) {
	const trials = 300
	for name, noise := range noises {
		for _, n := range []int{6, 10, 20, 40} {
			r := rand.New(rand.NewPCG(9, uint64(n)))
			held := 0
			for trial := range trials {
				d := make([]float64, n)
				for i := range d {
					d[i] = 1 + noise(r)
				}
				low, high := Bootstrap(n, Centre(d), 0.95, BootstrapOptions{Draws: 400, Seed: uint64(trial)})
				if low <= 1 && 1 <= high {
					held++
				}
			}
			// Three standard deviations below 95% are 91.2%.
			t.Logf("%s, %d pairs: %.1f%%", name, n, 100*float64(held)/trials)
			if held < trials*912/1000 {
				t.Errorf("%s, %d pairs: held %d of %d, want 91.2%% or more", name, n, held, trials)
			}
		}
	}
}

// Against the theory: the mean of normal numbers has Student's interval.
func TestBootstrapOfMeans(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	const n = 12
	ratio := 0.0
	const trials = 40
	for trial := range trials {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		mean, sd := moments(x)
		low, high := Bootstrap(n, func(index []int) float64 {
			sum := 0.0
			for _, i := range index {
				sum += x[i]
			}
			return sum / float64(len(index))
		}, 0.95, BootstrapOptions{Draws: 2000, Seed: uint64(trial)})
		if !(low < mean && mean < high) {
			t.Errorf("the mean %v is not in %v to %v", mean, low, high)
		}
		ratio += (high - low) / (2 * 2.201 * sd / math.Sqrt(n)) / trials // t of 11 degrees of freedom
	}
	near(t, "width against Student's", ratio, 1, 0.06)
}

func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

func TestBootstrapEdges(t *testing.T) {
	same := []float64{2, 2, 2, 2}
	if low, high := Bootstrap(4, Centre(same), 0.95, BootstrapOptions{}); low != 2 || high != 2 {
		t.Errorf("Bootstrap(equal numbers) = %v to %v, want 2 to 2", low, high)
	}
	for _, n := range []int{-1, 0, 2} {
		if low, high := Bootstrap(n, func([]int) float64 { return 1 }, 0.95, BootstrapOptions{}); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("Bootstrap(n=%d) = %v to %v, want NaN", n, low, high)
		}
	}
	if low, _ := Bootstrap(5, func([]int) float64 { return math.NaN() }, 0.95, BootstrapOptions{}); !math.IsNaN(low) {
		t.Errorf("without an estimate: %v", low)
	}
	d := []float64{1, 5, 2, 9, 3, 3, 4}
	o := BootstrapOptions{Draws: 500, Seed: 3}
	low, high := Bootstrap(len(d), Centre(d), 0.95, o)
	again, high2 := Bootstrap(len(d), Centre(d), 0.95, o)
	if low != again || high != high2 {
		t.Error("the same seed gives another interval")
	}
	narrow, wide := Bootstrap(len(d), Centre(d), 0.5, o)
	if !(low < narrow && wide < high) {
		t.Errorf("95%%: %v to %v, 50%%: %v to %v; want the second within the first", low, high, narrow, wide)
	}
}

func BenchmarkBootstrap(b *testing.B) {
	r := rand.New(rand.NewPCG(11, 1))
	d := make([]float64, 40)
	for i := range d {
		d[i] = r.NormFloat64()
	}
	for b.Loop() {
		Bootstrap(len(d), Centre(d), 0.95, BootstrapOptions{})
	}
}
