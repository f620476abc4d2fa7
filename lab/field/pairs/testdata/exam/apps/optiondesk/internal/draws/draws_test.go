package draws

import (
	"math"
	"testing"
)

func TestMoments(t *testing.T) {
	for _, name := range []string{"session", "worker"} {
		src, err := Open(name, 5)
		if err != nil {
			t.Fatal(err)
		}
		s, n := src.Stream(1), 200_000
		var sum, squares float64
		for range n {
			x := s.NormFloat64()
			sum += x
			squares += x * x
		}
		if m, v := sum/float64(n), squares/float64(n); math.Abs(m) > 0.01 || math.Abs(v-1) > 0.02 {
			t.Errorf("%s: mean %f, variance %f", name, m, v)
		}
	}
	if _, err := Open("dice", 5); err == nil {
		t.Error("dice are no source")
	}
}
