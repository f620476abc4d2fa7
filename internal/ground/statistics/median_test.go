package statistics

import (
	"math/rand/v2"
	"testing"
)

func TestMedianIntervalTables(t *testing.T) {
	// The ranks of tables of the sign test.
	for n, rank := range map[int]int{5: 0, 6: 1, 8: 1, 9: 2, 10: 2, 20: 6} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(n - i)
		}
		low, high, ok := MedianInterval(x, 0.95)
		if ok != (rank > 0) || ok && (low != float64(rank) || high != float64(n+1-rank)) {
			t.Errorf("of %d values from %v to %v, %v; want the %d-th from each end", n, low, high, ok, rank)
		}
	}
}

func TestMedianIntervalCovers(t *testing.T) {
	r, missed := rand.New(rand.NewPCG(1, 2)), 0
	const draws = 4000
	for range draws {
		x := make([]float64, 10)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		if low, high, _ := MedianInterval(x, 0.95); low > 0.6931 || high < 0.6931 {
			missed++
		}
	}
	if missed > draws*5/100 {
		t.Errorf("missed the median %d times of %d, want 5%% at most", missed, draws)
	}
}
