package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The quantiles are those of printed tables of Student's t, two-sided.
func TestStudentTail(t *testing.T) {
	for _, c := range []struct{ t, freedom, want float64 }{
		{12.706, 1, 0.05}, {636.619, 1, 0.001}, {2.571, 5, 0.05}, {6.869, 5, 0.001}, {2.228, 10, 0.05},
		{4.587, 10, 0.001}, {2.750, 30, 0.01}, {1.960, 1e6, 0.05}, {0, 7, 1},
	} {
		if p := studentTail(c.t, c.freedom); math.Abs(p-c.want) > 0.002*c.want {
			t.Errorf("t %v of %v: %v, want %v", c.t, c.freedom, p, c.want)
		}
		if p := studentTail(-c.t, c.freedom); math.Abs(p-c.want) > 0.002*c.want {
			t.Errorf("t %v of %v: %v, want %v", -c.t, c.freedom, p, c.want)
		}
	}
	// Of one degree of freedom it is Cauchy's, of which the tail is known in closed form.
	for _, x := range []float64{0.1, 1, 10, 1e3, 1e6} {
		want := 1 - 2*math.Atan(x)/math.Pi
		if p := studentTail(x, 1); math.Abs(p-want) > 1e-9+1e-6*want {
			t.Errorf("t %v of 1: %v, want %v", x, p, want)
		}
	}
}

func TestStudentAndWelch(t *testing.T) {
	for _, c := range []struct {
		what string
		p    float64
		want float64
	}{
		{"no numbers", Student(nil), 1},
		{"one number", Student([]float64{3}), 1},
		{"all the same", Student([]float64{2, 2, 2}), 0},
		{"one in a set", Welch([]float64{1}, []float64{2, 3}), 1},
		{"no difference", Welch([]float64{1, 3}, []float64{2, 2}), 1},
	} {
		if c.p != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.p, c.want)
		}
	}
	// A 5% test is wrong in 5% where nothing differs, whatever the variances are.
	random := rand.New(rand.NewPCG(1, 2))
	set := func(n int, sd float64) (x []float64) {
		for range n {
			x = append(x, sd*random.NormFloat64())
		}
		return x
	}
	const rounds = 4000
	var one, two int
	for range rounds {
		if Student(set(6, 3)) < 0.05 {
			one++
		}
		if Welch(set(6, 1), set(9, 4)) < 0.05 {
			two++
		}
	}
	for what, n := range map[string]int{"one set": one, "two sets": two} {
		if share := float64(n) / rounds; share < 0.035 || share > 0.065 {
			t.Errorf("%s: %.3f of the rounds are below 5%%", what, share)
		}
	}
}
