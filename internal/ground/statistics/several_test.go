package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestHolm(t *testing.T) {
	// By hand: 0.01·4; 0.02·3; max(0.06, 0.03·2); 0.04·1 is below it.
	got := Holm([]float64{0.03, 0.01, math.NaN(), 0.04, 0.02})
	for i, want := range []float64{0.06, 0.04, math.NaN(), 0.06, 0.06} {
		if math.IsNaN(want) {
			if !math.IsNaN(got[i]) {
				t.Errorf("what was not tested became %v", got[i])
			}
			continue
		}
		near(t, "adjusted", got[i], want, 1e-12)
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("Holm(0.9, 0.8) = %v, want [1 1]", got)
	}
}

func TestNormal(t *testing.T) {
	// Tables of the normal and of Student's distribution.
	near(t, "z", Normal(0.975), 1.959964, 1e-6)
	near(t, "z", Normal(0.5), 0, 1e-12)
	near(t, "tail", Tail(1.959964), 0.025, 1e-7)
	for freedom, want := range map[float64]float64{5: 2.571, 9: 2.262, 19: 2.093, 39: 2.023} {
		near(t, "Student's t", student(Normal(0.975), freedom), want, 0.003*want)
	}
}

func TestWilson(t *testing.T) {
	// Wilson's interval in Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of
	// 20, 1 of 29.
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		low, high := Wilson(c.k, c.n)
		near(t, "low", low, c.low, 1e-4)
		near(t, "high", high, c.high, 1e-4)
	}
	if low, high := Wilson(0, 0); low != 0 || high != 1 {
		t.Errorf("of nothing: %v to %v", low, high)
	}
}

// The number of pairs does find the effect about as often as it says.
func TestPairsNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	for _, effect := range []float64{0.05, 0.1, 0.2} {
		n := PairsNeeded(0.15, effect, 0.05, 0.8)
		found := 0
		const trials = 600
		for range trials {
			d := make([]float64, n)
			for i := range d {
				d[i] = effect + 0.15*r.NormFloat64()
			}
			if SignedRank(d) <= 0.05 {
				found++
			}
		}
		near(t, "power", float64(found)/trials, 0.8, 0.08)
		t.Logf("effect %v, %d pairs: found %.1f%%", effect, n, 100*float64(found)/trials)
	}
	if n := PairsNeeded(0, 0.5, 0.05, 0.8); n < 6 || n > 8 {
		t.Errorf("without noise: %d pairs, fewer than six are never significant", n)
	}
	for _, never := range [][2]float64{{0.1, 0}, {math.NaN(), 1}, {1, 1e-9}} {
		if n := PairsNeeded(never[0], never[1], 0.05, 0.8); n != mostPairs {
			t.Errorf("PairsNeeded(sd %v, effect %v) = %d, want %d", never[0], never[1], n, mostPairs)
		}
	}
}

// What so many pairs detect needs about so many pairs.
func TestDetectableIsTheInverseOfPairsNeeded(t *testing.T) {
	for _, n := range []int{10, 20, 40, 300} {
		if got := PairsNeeded(0.1, Detectable(0.1, n, 0.05, 0.8), 0.05, 0.8); got < n || got > n+1 {
			t.Errorf("what %d pairs detect needs %d", n, got)
		}
	}
	if d := Detectable(0.1, 1, 0.001, 0.8); !math.IsNaN(d) {
		t.Errorf("one pair detects %v, want nothing", d)
	}
}
