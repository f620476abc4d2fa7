package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %.6g, want %.6g within %g", what, got, want, within)
	}
}

// enumerated returns the signed-rank p by going through all assignments of signs,
// with ranks computed the slow way.
func enumerated(d []float64) float64 {
	var rank []float64
	plus := 0.0
	for _, v := range d {
		if v == 0 {
			continue
		}
		r := 0.5
		for _, w := range d {
			switch {
			case math.Abs(w) < math.Abs(v):
				r++
			case math.Abs(w) == math.Abs(v):
				r += 0.5
			}
		}
		rank = append(rank, r)
		if v > 0 {
			plus += r
		}
	}
	total := 0.0
	for _, r := range rank {
		total += r
	}
	as := 0
	for signs := range 1 << len(rank) {
		sum := 0.0
		for i, r := range rank {
			if signs>>i&1 == 1 {
				sum += r
			}
		}
		if math.Abs(sum-total/2) >= math.Abs(plus-total/2) {
			as++
		}
	}
	return float64(as) / math.Exp2(float64(len(rank)))
}

func TestSignedRankEnumerated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		d := make([]float64, r.IntN(12))
		for i := range d {
			d[i] = math.Round(r.NormFloat64()*3+1) / 2 // ties and zeros abound
		}
		near(t, "p", SignedRank(d), enumerated(d), 1e-12)
	}
}

// oneTo has the ranks 1 to n; those given are negative.
func oneTo(n int, negative ...int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = float64(i + 1)
		if slices.Contains(negative, i+1) {
			d[i] = -d[i]
		}
	}
	return d
}

func TestSignedRankTables(t *testing.T) {
	// Hollander and Wolfe (1973), p. 29: depression scores before and after, the
	// example of R's wilcox.test: V = 40, one-sided p 0.01953.
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(before))
	for i := range d {
		d[i] = before[i] - after[i]
	}
	near(t, "depression", SignedRank(d), 2*0.01953125, 1e-9)

	// Critical values of Wilcoxon's table for two-sided 5%: 8 for n = 10, 52 for
	// n = 20. One more is over the level.
	if p := SignedRank(oneTo(10, 8)); p > 0.05 {
		t.Errorf("n=10, T=8: p = %v, want at most 0.05", p)
	}
	if p := SignedRank(oneTo(10, 9)); p <= 0.05 {
		t.Errorf("n=10, T=9: p = %v, want more than 0.05", p)
	}
	if p := SignedRank(oneTo(20, 20, 19, 13)); p > 0.05 {
		t.Errorf("n=20, T=52: p = %v, want at most 0.05", p)
	}
	if p := SignedRank(oneTo(20, 20, 19, 14)); p <= 0.05 {
		t.Errorf("n=20, T=53: p = %v, want more than 0.05", p)
	}
	near(t, "least p of ten", SignedRank(oneTo(10)), 2.0/1024, 1e-15)
}

func TestSignedRankEdges(t *testing.T) {
	for _, d := range [][]float64{nil, {0}, {0, 0, 0}, {math.NaN()}, {1}, {1, -1}} {
		if p := SignedRank(d); p != 1 {
			t.Errorf("SignedRank(%v) = %v, want 1", d, p)
		}
	}
	if got, want := SignedRank([]float64{1, 2, math.NaN(), 3}), SignedRank([]float64{1, 2, 3}); got != want {
		t.Errorf("a missing value changes p: %v, %v", got, want)
	}
	inf := math.Inf(1)
	if p := SignedRank([]float64{inf, inf, inf, inf, inf, inf}); p != 2.0/64 {
		t.Errorf("SignedRank(6 infinities) = %v, want 2/64", p)
	}
}

// Beyond 50 differences the test is normal: there both must agree.
func TestSignedRankNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 50 {
		d := make([]float64, mostExact)
		for i := range d {
			d[i] = math.Round(10 * (r.NormFloat64() + 0.3))
		}
		rank := doubleRanks(absolutes(d))
		var signed []int
		plus := 0
		for i, v := range d {
			if v != 0 {
				signed = append(signed, rank[i])
			}
			if v > 0 {
				plus += rank[i]
			}
		}
		near(t, "normal p", normalSigns(signed, plus), SignedRank(d), 0.005)
	}
	if p := SignedRank(oneTo(mostExact + 1)); !(p > 0 && p < 1e-8) {
		t.Errorf("SignedRank(51 of one sign) = %v, want more than 0 and less than 1e-8", p)
	}
}

func absolutes(d []float64) []float64 {
	out := slices.Clone(d)
	for i := range out {
		out[i] = math.Abs(out[i])
	}
	return out
}

// Zeros: what is the same in most pairs is not found different by the rest,
// which is what dropping zeros first would do.
func TestSignedRankZeros(t *testing.T) {
	d := append(make([]float64, 30), 3, 3, 3, 3, 3, -4)
	if p := SignedRank(d); p < 0.1 {
		t.Errorf("SignedRank(30 zeros, 5 up, 1 down) = %v, want 0.1 or more", p)
	}
}

// dealt returns the rank-sum p by going through all ways to deal.
func dealt(a, b []float64) float64 {
	all := slices.Concat(a, b)
	rank := make([]float64, len(all))
	for i, v := range all {
		rank[i] = 0.5
		for _, w := range all {
			switch {
			case w < v:
				rank[i]++
			case w == v:
				rank[i] += 0.5
			}
		}
	}
	far := func(sum float64) float64 {
		return math.Abs(sum - float64(len(a))*float64(len(all)+1)/2)
	}
	seen := 0.0
	for _, r := range rank[:len(a)] {
		seen += r
	}
	as, ways := 0, 0
	for choice := range 1 << len(all) {
		sum, n := 0.0, 0
		for i, r := range rank {
			if choice>>i&1 == 1 {
				sum += r
				n++
			}
		}
		if n != len(a) {
			continue
		}
		ways++
		if far(sum) >= far(seen)-1e-9 {
			as++
		}
	}
	return float64(as) / float64(ways)
}

func TestMannWhitneyEnumerated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	some := func(shift float64) []float64 {
		x := make([]float64, 1+r.IntN(6))
		for i := range x {
			x[i] = math.Round(2 * (r.NormFloat64() + shift))
		}
		return x
	}
	for range 200 {
		a, b := some(0), some(1)
		near(t, "p", MannWhitney(a, b), dealt(a, b), 1e-12)
		near(t, "p the other way", MannWhitney(b, a), MannWhitney(a, b), 1e-12)
	}
}

func TestMannWhitneyTables(t *testing.T) {
	// Hollander and Wolfe (1973), p. 69: permeability of the amnion, the example
	// of R's wilcox.test: W = 35, one-sided p 0.1272.
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	near(t, "amnion", MannWhitney(term, early), 2*0.1272, 1e-4)
	// Five against five without overlap: 2 of 252 deals.
	near(t, "apart", MannWhitney([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}), 2.0/252, 1e-12)
	for _, x := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{1, 1}, {1, 1, 1}}, {{math.NaN()}, {2}}} {
		if p := MannWhitney(x[0], x[1]); p != 1 {
			t.Errorf("MannWhitney(%v) = %v, want 1", x, p)
		}
	}
}

func TestMannWhitneyNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 20 {
		a, b := make([]float64, 25), make([]float64, 25)
		for i := range a {
			a[i], b[i] = math.Round(5*r.NormFloat64()), math.Round(5*r.NormFloat64()+2)
		}
		rank := doubleRanks(slices.Concat(a, b))
		sum := 0
		for _, v := range rank[:25] {
			sum += v
		}
		near(t, "normal p", normalDeals(rank, 25, sum), MannWhitney(a, b), 0.005)
	}
	same := make([]float64, 40)
	if p := MannWhitney(same, same); p != 1 {
		t.Errorf("MannWhitney(all equal) = %v, want 1", p)
	}
}

func FuzzRanks(f *testing.F) {
	f.Add([]byte{1, 2, 3, 128, 255, 0, 0, 7}, uint8(3))
	f.Add([]byte{}, uint8(0))
	f.Add([]byte{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, uint8(6))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		x := make([]float64, min(len(b), 120))
		for i := range x {
			x[i] = float64(int8(b[i]))
			if b[i] == 0x80 {
				x[i] = math.NaN()
			}
		}
		minus := slices.Clone(x)
		for i := range minus {
			minus[i] = -minus[i]
		}
		p := SignedRank(x)
		if !(p >= 0 && p <= 1) || p != SignedRank(minus) {
			t.Fatalf("SignedRank(%v) = %v, of its mirror image %v; want both the same, 0 to 1", x, p, SignedRank(minus))
		}
		at := min(int(cut), len(x))
		if p := MannWhitney(x[:at], x[at:]); !(p >= 0 && p <= 1) {
			t.Fatalf("MannWhitney(%v at %d) = %v, want 0 to 1", x, at, p)
		}
	})
}
