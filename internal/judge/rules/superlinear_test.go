package rules

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

func TestSizeIn(t *testing.T) {
	for name, want := range map[string]struct {
		name string
		size float64
	}{
		"BenchmarkX/n=1000-8":       {"BenchmarkX/n=N", 1000},
		"BenchmarkX/1000":           {"BenchmarkX/N", 1000},
		"BenchmarkX/1_000-2":        {"BenchmarkX/N", 1000},
		"BenchmarkX/size=64k/warm":  {"BenchmarkX/size=N/warm", 64e3},
		"BenchmarkX/size=64KiB-16":  {"BenchmarkX/size=N", 64 << 10},
		"BenchmarkX/bytes:2MB":      {"BenchmarkX/bytes:N", 2 << 20},
		"BenchmarkX/items1e6-2":     {"BenchmarkX/itemsN", 1e6},
		"BenchmarkX/a/Len=5/keys=7": {"BenchmarkX/a/Len=5/keys=N", 7},
		"BenchmarkX-8":              {},
		"BenchmarkX1000-8":          {},
		"BenchmarkX/workers=16":     {},
		"BenchmarkX/v2":             {},
		"BenchmarkX/n=0":            {},
		"BenchmarkX/n=1x":           {},
		"BenchmarkX/n=1e999":        {},
		"":                          {},
	} {
		got, size, ok := sizeIn(name)
		if got != want.name || size != want.size || ok != (want.name != "") {
			t.Errorf("%q: %q, %v, %v", name, got, size, ok)
		}
	}
}

// TestFit: the fit finds the power that the points were made with, and its
// interval widens with their noise.
func TestFit(t *testing.T) {
	for _, power := range []float64{1, 1.5, 2, 3} {
		for _, noise := range []float64{0, 0.05} {
			s := sweep{}
			for i, size := range []float64{100, 400, 1600, 6400} {
				for _, sign := range []float64{1, -1} {
					s.points = append(s.points, sizedCost{size, 3 * math.Pow(size, power) * (1 + sign*noise*float64(1+i%2))})
				}
			}
			g, ok := s.fit()
			if !ok || math.Abs(g.slope-(power-1)) > 0.02 || g.low > power-1+1e-9 || g.high < power-1-1e-9 {
				t.Errorf("power %v, noise %v: fit() = slope %v in %v to %v, %v, want %v, true",
					power, noise, g.slope, g.low, g.high, ok, power-1)
			}
			if width := g.high - g.low; noise > 0 && width < 0.01 || noise == 0 && width > 1e-6 {
				t.Errorf("power %v, noise %v: interval %v", power, noise, width)
			}
		}
	}
	if _, ok := (&sweep{points: []sizedCost{{1, 1}, {2, 2}}}).fit(); ok {
		t.Error("a slope of two points")
	}
}

// TestStudentT: between the quantile and its negative lie 95% of the density.
func TestStudentT(t *testing.T) {
	for freedom := 1; freedom < 40; freedom++ {
		n := float64(freedom)
		a, _ := math.Lgamma((n + 1) / 2)
		b, _ := math.Lgamma(n / 2)
		scale := math.Exp(a-b) / math.Sqrt(n*math.Pi)
		const steps = 100_000
		step, inside := studentT(freedom)/steps, 0.0
		for i := range steps {
			x := (float64(i) + 0.5) * step
			inside += 2 * step * scale * math.Pow(1+x*x/n, -(n+1)/2)
		}
		if math.Abs(inside-0.95) > 0.002 {
			t.Errorf("%d degrees of freedom: %.4f of the density", freedom, inside)
		}
	}
}

// The steepest of several benchmarks is told, and not the one known best.
func TestSteepest(t *testing.T) {
	lines := `window 10s
result "go test"
`
	for i, n := range []int{16, 64, 256, 1024} {
		lines += fmt.Sprintf("benchmark BenchmarkA/%d-2 n=10 v.ns/op=%v\n", n, math.Pow(float64(n), 1.1))
		for _, noise := range []float64{0.3, 3} {
			lines += fmt.Sprintf("benchmark BenchmarkB/%d-2 n=%d v.ns/op=%v\n", n, 10+i, noise*math.Pow(float64(n), 1.25))
		}
		lines += fmt.Sprintf("benchmark BenchmarkC/%d-2 n=10 v.ns/op=%v\n", n, math.Pow(float64(n), 1.2))
	}
	d := diagnosis.Run(passOf(t, superlinear, lines).Model, []*diagnosis.Rule{superlinear}, diagnosis.Options{})
	if len(d.Fine) != 1 || !strings.Contains(d.Fine[0].Text, "by the power 0.250 at most, and with noise from -") {
		t.Errorf("%q, want the power 0.250", d.Fine)
	}
}
