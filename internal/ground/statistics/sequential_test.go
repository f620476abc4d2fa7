package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Simulated: how often a walk without drift crosses.
func crossed(looks []int, levels []float64, trials int) float64 {
	r := rand.New(rand.NewPCG(12, uint64(len(looks))))
	count := 0
	for range trials {
		sum, last := 0.0, 0
		for k, n := range looks {
			sum += r.NormFloat64() * math.Sqrt(float64(n-last))
			last = n
			if 2*Tail(math.Abs(sum)/math.Sqrt(float64(n))) <= levels[k] {
				count++
				break
			}
		}
	}
	return float64(count) / float64(trials)
}

func TestBoundaries(t *testing.T) {
	for _, looks := range [][]int{{40}, {10, 20, 40}, {10, 20}, {6, 11, 13, 40, 41}, {1, 2, 3, 4, 5, 6, 7, 8}} {
		for _, alpha := range []float64{0.05, 0.01} {
			levels := Boundaries(looks, alpha)
			// 200,000 walks: three standard deviations are 0.0015.
			near(t, "total error", crossed(looks, levels, 200_000), alpha, 0.0016)
			first := alpha * math.Pow(share(looks, looks[0]), Spending)
			near(t, "first level", levels[0], first, 1e-6)
			for k, level := range levels {
				if !(level > 0 && level <= alpha+1e-9) {
					t.Errorf("%v: level %d is %v, want more than 0 and at most %v", looks, k, level, alpha)
				}
			}
		}
	}
}

// Ten pairs can be significant at the first look, which O'Brien and Fleming's
// function would forbid.
func TestFirstLookCanDecide(t *testing.T) {
	if level := Boundaries([]int{10, 20, 40}, 0.05)[0]; level < SignedRank(oneTo(10)) {
		t.Errorf("level %v at ten pairs, want at least the least p, %v", level, SignedRank(oneTo(10)))
	}
}

// Pocock (1977), table 1: constants for 5% and equally spaced looks.
func TestConstantTable(t *testing.T) {
	for k, want := range map[int]float64{1: 1.960, 2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 10: 2.555} {
		var looks []int
		for n := range k {
			looks = append(looks, n+1)
		}
		near(t, "Pocock's constant", Normal(1-Constant(looks, 0.05)/2), want, 0.001)
	}
}

// With the test that uses them: signs by a coin, sizes however they are.
func TestBoundariesOfSignedRank(t *testing.T) {
	looks := []int{10, 20, 40}
	levels := Boundaries(looks, 0.05)
	constant := Constant(looks, 0.05)
	r := rand.New(rand.NewPCG(13, 1))
	const trials = 4000
	spent, constantly := 0, 0
	for range trials {
		d := make([]float64, 40)
		for i := range d {
			size := math.Exp(3 * math.Sin(float64(i))) // the machine has a rhythm
			d[i] = size * float64(1-2*r.IntN(2))
		}
		one, other := false, false
		for k, n := range looks {
			p := SignedRank(d[:n])
			one = one || p <= levels[k]
			other = other || p <= constant
		}
		if one {
			spent++
		}
		if other {
			constantly++
		}
	}
	// 5% and three standard deviations are 6.03%.
	for name, n := range map[string]int{"spent": spent, "constant": constantly} {
		if share := float64(n) / trials; share > 0.0603 || share < 0.03 {
			t.Errorf("%s: found %.2f%%, want 3%% to 6.03%%", name, 100*share)
		}
	}
}

func TestBoundariesEdges(t *testing.T) {
	for _, looks := range [][]int{nil, {}, {0}, {-1, 5}, {5, 5}, {9, 3}} {
		if got := Boundaries(looks, 0.05); got != nil {
			t.Errorf("Boundaries(%v) = %v, want nil", looks, got)
		}
		if got := Constant(looks, 0.05); !math.IsNaN(got) {
			t.Errorf("Constant(%v) = %v, want NaN", looks, got)
		}
	}
}

func BenchmarkBoundaries(b *testing.B) {
	for b.Loop() {
		Boundaries([]int{10, 20, 40}, 0.05)
	}
}

func BenchmarkConstant(b *testing.B) {
	for b.Loop() {
		Constant([]int{10, 20, 40}, 0.05)
	}
}
