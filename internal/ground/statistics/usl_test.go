package statistics

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

var uslCounts = []float64{1, 2, 4, 8, 16, 32, 64}

func uslSample(lambda, sigma, kappa, noise float64, repeats int, random *rand.Rand) (n, x []float64) {
	for range repeats {
		for _, c := range uslCounts {
			n = append(n, c)
			v := lambda * c / (1 + sigma*(c-1) + kappa*c*(c-1))
			x = append(x, v*math.Exp(noise*random.NormFloat64()))
		}
	}
	return n, x
}

func TestFitUSLExact(t *testing.T) {
	for _, want := range []struct{ lambda, sigma, kappa, peak float64 }{
		{995.6, 0.0267, 0.00076, math.Sqrt((1 - 0.0267) / 0.00076)},
		{10, 0, 0, math.Inf(1)},
		{2.5e6, 0.3, 0, math.Inf(1)},
		{0.4, 0, 0.002, math.Sqrt(1 / 0.002)},
		{50, 1, 0, 1}, // flat: one at a time
		{50, 0.9, 0.05, math.Sqrt(0.1 / 0.05)},
	} {
		n, x := uslSample(want.lambda, want.sigma, want.kappa, 0, 3, rand.New(rand.NewPCG(1, 1)))
		got, err := FitUSL(n, x, 1)
		if err != nil {
			t.Fatal(err)
		}
		near := func(name string, got, truth float64) {
			if math.Abs(got-truth) > 1e-6*max(1, truth) && got != truth {
				t.Errorf("law %+v: %s = %v, want %v", want, name, got, truth)
			}
		}
		near("λ", got.Lambda.Value/want.lambda, 1)
		near("σ", got.Sigma.Value, want.sigma)
		near("κ", got.Kappa.Value, want.kappa)
		if want.sigma >= 1 {
			continue // a flat curve has no peak and R² nothing to explain
		}
		if !math.IsInf(want.peak, 1) {
			near("N*", got.Peak.Value, want.peak)
		} else if got.Peak.Value < 1e4 {
			t.Errorf("law %+v: N* = %v, want 1e4 or more", want, got.Peak.Value)
		}
		if x5 := want.lambda * 5 / (1 + want.sigma*4 + want.kappa*20); math.Abs(got.At(5)/x5-1) > 1e-6 {
			t.Errorf("%+v: X(5) is %v, want %v", want, got.At(5), x5)
		}
		if !(got.R2 > 0.999999) {
			t.Errorf("law %+v: R² = %v, want more than 0.999999", want, got.R2)
		}
	}
}

// The intervals of noisy curves contain the truth about as often as they say.
func TestFitUSLIntervals(t *testing.T) {
	const seeds, sigma, kappa = 40, 0.05, 0.001
	peak := math.Sqrt((1 - sigma) / kappa)
	inside := map[string]int{}
	random := rand.New(rand.NewPCG(7, 7))
	for seed := range uint64(seeds) {
		n, x := uslSample(1000, sigma, kappa, 0.05, 3, random)
		u, err := FitUSL(n, x, seed)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]struct {
			Estimate
			truth float64
		}{"λ": {u.Lambda, 1000}, "σ": {u.Sigma, sigma}, "κ": {u.Kappa, kappa}, "N*": {u.Peak, peak}} {
			if e.Low > e.Value || e.High < e.Value {
				t.Fatalf("%s: %+v, want the value inside of its interval", name, e)
			}
			if e.Low <= e.truth && e.truth <= e.High {
				inside[name]++
			}
		}
	}
	for _, name := range []string{"λ", "σ", "κ", "N*"} {
		// 0.95 of 40 is 38; below 32 or all too wide to mean anything is wrong.
		if inside[name] < 32 {
			t.Errorf("%s: the truth is in %d of %d intervals, want 32 or more", name, inside[name], seeds)
		}
	}
}

// No other parameters do better than the fit.
func TestFitUSLIsLeast(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		n, x := uslSample(10, random.Float64()*0.5, random.Float64()*0.01, 0.2, 2, random)
		d, err := newUSLData(n, x)
		if err != nil {
			t.Fatal(err)
		}
		best := d.fit()
		least := d.loss(&best)
		for range 300 {
			f := uslFit{sigma: max(0, best.sigma+0.1*random.NormFloat64()), kappa: max(0, best.kappa+0.003*random.NormFloat64())}
			if s := d.loss(&f); s < least*(1-1e-7) {
				t.Fatalf("%+v has %v, want no less than the fit's, %+v with %v", f, s, best, least)
			}
		}
	}
}

func TestFitUSLRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		n, x []float64
		want error
	}{
		"two counts":  {[]float64{1, 2, 2}, []float64{1, 2, 2}, ErrFewPoints},
		"none":        {nil, nil, ErrFewPoints},
		"zero":        {[]float64{1, 2, 3}, []float64{1, 0, 2}, ErrNotANumber},
		"NaN":         {[]float64{1, 2, 3}, []float64{1, math.NaN(), 2}, ErrNotANumber},
		"infinite":    {[]float64{1, 2, math.Inf(1)}, []float64{1, 1, 1}, ErrNotANumber},
		"odd lengths": {[]float64{1, 2, 3}, []float64{1}, ErrNotANumber},
	} {
		if _, err := FitUSL(c.n, c.x, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// At returns the throughput that the law gives for a count.
func (u USL) At(n float64) float64 {
	return u.Lambda.Value * n / (1 + u.Sigma.Value*(n-1) + u.Kappa.Value*n*(n-1))
}
