package statistics

import (
	"math"
	"testing"
)

func TestFitPower(t *testing.T) {
	for _, c := range []struct {
		x, y            []float64
		b, low, high, r float64
	}{
		{[]float64{1000, 2000, 4000}, []float64{1e6, 4e6, 16e6}, 2, 2, 2, 1},
		{[]float64{10, 20, 40, 80}, []float64{7, 7, 7, 7}, 0, 0, 0, 1},
		{[]float64{1, 2}, []float64{3, 6}, 1, math.Inf(-1), math.Inf(1), 1},
		// By hand, from the residuals and Student's 4.3027 for two degrees of freedom.
		{[]float64{1, 2, 4, 8}, []float64{1, 2.2, 3.7, 8.3}, 0.99094, 0.74587, 1.23600, 0.99344},
	} {
		p, ok := FitPower(c.x, c.y)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 2e-3 }
		if e := p.Exponent; !ok || !near(e.Value, c.b) || !near(e.Low, c.low) || !near(e.High, c.high) || !near(p.R2, c.r) {
			t.Errorf("FitPower(%v, %v) = %v in %v to %v, R² %v, %v, want %v in %v to %v, R² %v, true",
				c.x, c.y, e.Value, e.Low, e.High, p.R2, ok, c.b, c.low, c.high, c.r)
		}
	}
	for _, c := range [][2][]float64{{{1}, {1}}, {{2, 2}, {1, 3}}, {{1, 2}, {0, 3}}, {{-1, 2}, {1, 3}}, {{1, 2, 3}, {1, 2}}, {{1, math.Inf(1)}, {1, 2}}, {{1, math.NaN()}, {1, 2}}} {
		if p, ok := FitPower(c[0], c[1]); ok {
			t.Errorf("FitPower(%v, %v) = %+v, true, want false", c[0], c[1], p)
		}
	}
}

// The quantiles of the tables: 12.706 for one degree of freedom, 4.303, 2.776 for four.
func TestStudentWithin(t *testing.T) {
	for freedom, want := range map[float64]float64{1: 12.7062, 2: 4.3027, 4: 2.7764, 30: 2.0423} {
		if got := studentWithin(0.95, freedom); math.Abs(got-want) > 1e-3 {
			t.Errorf("%g degrees of freedom: %g, want %g", freedom, got, want)
		}
	}
}
