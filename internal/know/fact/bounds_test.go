package fact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// No part of a whole brings more than the whole, and a larger part more.
func TestAmdahl(t *testing.T) {
	if Amdahl(0) != 1 || Amdahl(0.25) != 0.75 || Amdahl(1) != 0 || Amdahl(1.5) != 0 || Amdahl(-1) != 1 {
		t.Errorf("Amdahl(0, 0.25, 1, 1.5, -1) = %v, %v, %v, %v, %v; want 1, 0.75, 0, 0, 1", Amdahl(0), Amdahl(0.25), Amdahl(1), Amdahl(1.5), Amdahl(-1))
	}
}

func TestAsymptotic(t *testing.T) {
	for _, c := range []struct {
		name string
		ClosedSystem
		want float64
	}{
		{"nothing is known", ClosedSystem{}, math.Inf(1)},
		{"CPU bounds", ClosedSystem{Cores: 4, Busy: 2, Whole: 10, Wait: 9}, 2},
		{"time bounds", ClosedSystem{Cores: 8, Busy: 1, Whole: 10, Wait: 5}, 2},
		{"all of the time is this wait", ClosedSystem{Cores: 4, Busy: 1, Whole: 10, Wait: 10}, 4},
		{"the next lock bounds", ClosedSystem{Cores: 8, Busy: 1, Whole: 10, Wait: 8, Serial: 0.8}, 1.25},
		{"a machine that is full", ClosedSystem{Cores: 2, Busy: 2, Whole: 10, Wait: 9}, 1},
		{"more busy than there is", ClosedSystem{Cores: 2, Busy: 3, Whole: 10, Wait: 9}, 1},
		{"a resource used more than fully", ClosedSystem{Cores: 2, Busy: 1, Serial: 1.5}, 1},
	} {
		if got, _, _ := c.Asymptotic(); math.Abs(got-c.want) > 1e-12 && got != c.want {
			t.Errorf("%s: Asymptotic() = %v, want %v", c.name, got, c.want)
		}
	}
	// Never slower, never faster than any of the three; more cores or a longer
	// wait never promise less, a busier next resource never more.
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c := ClosedSystem{Cores: 1 + 63*r.Float64(), Busy: 64 * r.Float64(), Whole: 100 * r.Float64(), Serial: r.Float64()}
		c.Wait = c.Whole * r.Float64()
		f, byCPU, byTime := c.Asymptotic()
		if !(f >= 1) || f > byCPU || f > byTime || f > max(1, 1/c.Serial) {
			t.Fatalf("Asymptotic() of %+v = %v of %v and %v, want 1 or more and no more than any of the bounds", c, f, byCPU, byTime)
		}
		more := c
		more.Cores, more.Wait, more.Serial = c.Cores+r.Float64(), c.Wait+(c.Whole-c.Wait)*r.Float64(), c.Serial*r.Float64()
		if g, _, _ := more.Asymptotic(); g < f {
			t.Fatalf("Asymptotic() of %+v = %v, and of %+v = %v, want no less", c, f, more, g)
		}
	}
}

func TestGCModel(t *testing.T) {
	for _, c := range [][4]float64{
		{0.4, 2, 1, 0.2}, {0.4, 4, 1, 0.3}, {0.4, 1, 1, 0}, {0.4, 0.5, 1, 0}, {0.4, 2, 1.26, 0.252},
		{0.4, 100, 1.26, 0.4}, {2, 1e9, 1, 1}, {-1, 2, 1, 0}, {0.4, 2, 0.5, 0.2}, {0.4, math.Inf(1), 1, 0.4},
	} {
		if got := GCModel(c[0], c[1], c[2]); math.Abs(got-c[3]) > 1e-6 {
			t.Errorf("GCModel(%v, %v, %v) = %v, want %v", c[0], c[1], c[2], got, c[3])
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		share, factor, excess := r.Float64(), 1+10*r.Float64(), 1+r.Float64()
		s := GCModel(share, factor, excess)
		if !(s >= 0) || s > share || GCModel(share, factor*(1+r.Float64()), excess) < s {
			t.Fatalf("GCModel(%v, %v, %v) = %v, want 0 to the share, and no less by a larger factor", share, factor, excess, s)
		}
	}
}

// Wilson's interval, by hand for 10 of 100, and at its ends.
func TestAtMost(t *testing.T) {
	for _, c := range []struct {
		share float64
		n     int64
		want  float64
	}{{0.1, 100, 0.1744}, {0, 100, 0.0370}, {1, 100, 1}, {0.5, 1 << 40, 0.5}, {0.2, 0, 1}, {7, 10, 1}} {
		if got := LargestShare(c.share, c.n); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%v of %d: %v, want %v", c.share, c.n, got, c.want)
		}
	}
}
