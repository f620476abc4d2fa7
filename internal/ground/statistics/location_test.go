package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantile(t *testing.T) {
	x := []float64{9, 1, 4, 7} // in order 1 4 7 9
	for _, c := range []struct{ q, want float64 }{{0, 1}, {1, 9}, {0.5, 5.5}, {1.0 / 3, 4}, {0.25, 3.25}, {-1, 1}, {2, 9}} {
		near(t, "quantile", Quantile(x, c.q), c.want, 1e-12)
	}
	if !slices.Equal(x, []float64{9, 1, 4, 7}) {
		t.Error("Quantile changed its argument")
	}
	near(t, "median of one", Median([]float64{3}), 3, 0)
	near(t, "median with infinity", Median([]float64{1, 2, math.Inf(1)}), 2, 0)
	for _, x := range [][]float64{nil, {1, math.NaN()}} {
		if v := Median(x); !math.IsNaN(v) {
			t.Errorf("Median(%v) = %v, want NaN", x, v)
		}
	}
}

// numbers are random, rounded now and then so that sums are equal.
func numbers(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	unit := []float64{0, 1, 0.5, 1e-300, 1e300}[r.IntN(5)]
	for i := range x {
		x[i] = r.NormFloat64()
		if unit != 0 {
			x[i] = math.Round(4*x[i]) * unit / 8
		}
	}
	return x
}

func TestHodgesLehmannSlowly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 400 {
		d := numbers(r, 1+r.IntN(15))
		var walsh []float64
		for i := range d {
			for _, v := range d[i:] {
				walsh = append(walsh, d[i]/2+v/2)
			}
		}
		want := Median(walsh)
		near(t, "centre", HodgesLehmann(d), want, 1e-12*math.Abs(want))
		all := make([]int, len(d))
		for i := range all {
			all[i] = i
		}
		near(t, "centre, weighed", Centre(d)(all), want, 1e-12*math.Abs(want))
	}
}

func TestShiftSlowly(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 400 {
		a, b := numbers(r, 1+r.IntN(9)), numbers(r, 1+r.IntN(9))
		var differences []float64
		for _, x := range a {
			for _, y := range b {
				differences = append(differences, y-x)
			}
		}
		want := Median(differences)
		near(t, "shift", Shift(a, b), want, 1e-12*math.Abs(want))
		near(t, "shift back", Shift(b, a), -want, 1e-12*math.Abs(want))
	}
}

func TestLocationEdges(t *testing.T) {
	for _, d := range [][]float64{nil, {1, math.NaN()}, {1, math.Inf(-1)}} {
		if v := HodgesLehmann(d); !math.IsNaN(v) {
			t.Errorf("HodgesLehmann(%v) = %v, want NaN", d, v)
		}
		if v := Shift(d, []float64{1}); !math.IsNaN(v) {
			t.Errorf("Shift(%v, 1) = %v, want NaN", d, v)
		}
	}
	great := math.MaxFloat64
	near(t, "centre of the greatest", HodgesLehmann([]float64{great, great, -great}), great/2, 0)
	near(t, "one outlier", HodgesLehmann([]float64{1, 1.1, 0.9, 1, 1e9}), 1.05, 0.01)
}

// The resampled estimate is that of the numbers drawn.
func TestCentreOfDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 300 {
		d := numbers(r, 2+r.IntN(9))
		centre := Centre(d)
		index := make([]int, len(d)-r.IntN(2))
		drawn := make([]float64, len(index))
		for i := range index {
			index[i] = r.IntN(len(d))
			drawn[i] = d[index[i]]
		}
		want := HodgesLehmann(drawn)
		near(t, "centre of a draw", centre(index), want, 1e-12*math.Abs(want))
	}
}

func TestHodgesLehmannOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	d := make([]float64, 20_000)
	for i := range d {
		d[i] = 5 + r.NormFloat64()
	}
	near(t, "centre of 20,000", HodgesLehmann(d), 5, 0.03)
}

func FuzzKth(f *testing.F) {
	f.Add(1.0, -2.0, 0.0, 3.5)
	f.Add(math.MaxFloat64, -math.MaxFloat64, 5e-324, math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		x := []float64{a, b, c, d}
		got := HodgesLehmann(x)
		if slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			if !math.IsNaN(got) {
				t.Fatalf("HodgesLehmann(%v) = %v, want NaN", x, got)
			}
			return
		}
		if got < slices.Min(x) || got > slices.Max(x) {
			t.Fatalf("HodgesLehmann(%v) = %v, want one between the least and the greatest", x, got)
		}
	})
}
