package experiment

import (
	"fmt"
	"math"
	"testing"
)

// A value between two others, on the log scale, in whole units of its kind; none where they are close.
func TestInside(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		knob        Knob
		a, b, share float64
		want        float64 // 0 for none
	}{
		{Knob{}, 1, 4, 0.5, 2},
		{Knob{}, 4, 1, 0.25, 4 / math.Sqrt2},
		{Knob{}, 1, closeEnough, 0.5, 0},
		{Knob{}, 0, 4, 0.5, 0},
		{Knob{Integer: true}, 10, 40, 0.5, 20},
		{Knob{Integer: true}, 3, 5, 0.01, 4},
		{Knob{Integer: true}, 3, 5, 0.99, 4},
		{Knob{Integer: true}, 1, 2, 0.5, 0},
		{Knob{Integer: true, Bytes: true}, 64 * mib, 256 * mib, 0.4, 111 * mib},
		{Knob{Bytes: true}, 4096, 4 * 4096, 0.5, 8192},
	} {
		got, ok := tt.knob.inside(tt.a, tt.b, tt.share)
		if ok != (tt.want > 0) || ok && math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%+v: inside(%v, %v, %v) = %v, %v, want %v", tt.knob, tt.a, tt.b, tt.share, got, ok, tt.want)
		}
	}
}

func TestKnobFormat(t *testing.T) {
	for _, tt := range []struct {
		knob Knob
		v    float64
		want string
	}{
		{Knob{Integer: true}, 3.6, "4"},
		{Knob{Bytes: true}, 64 << 20, "67108864"},
		{Knob{Integer: true}, 1e15, "1000000000000000"},
		{Knob{}, 0.123456, "0.1235"},
	} {
		if got := tt.knob.Format(tt.v); got != tt.want {
			t.Errorf("%+v: Format(%v) = %q, want %q", tt.knob, tt.v, got, tt.want)
		}
	}
}

// A point keeps its place in the order of values, whenever it comes.
func TestCurveAt(t *testing.T) {
	c := &Curve{}
	for _, tt := range []struct {
		v    float64
		want int
	}{{4, 0}, {1, 0}, {2, 1}, {4, 2}, {8, 3}, {1, 0}} {
		if got := c.at(tt.v); got != tt.want || c.Points[got].Value != tt.v {
			t.Errorf("at(%v) = %d in %v, want %d", tt.v, got, c.Points, tt.want)
		}
	}
	if len(c.Points) != 4 {
		t.Errorf("%d points, want 4", len(c.Points))
	}
}

// Counts at which a trace is taken: a few, the recommended, the largest, and one between.
func TestRecordAt(t *testing.T) {
	curve := func(chosen int, values ...float64) *Curve {
		c := &Curve{Chosen: chosen}
		for _, v := range values {
			c.Points = append(c.Points, Point{Value: v, Ratio: 1})
		}
		return c
	}
	failed := curve(-1, 1, 2, 64)
	failed.Points[2].Ratio = 0
	for _, tt := range []struct {
		curve *Curve
		want  string
	}{
		{curve(-1), "[]"},
		{curve(-1, 0), "[]"},
		{curve(0, 1, 2, 4, 8, 16), "[1 4 8 16]"},
		{curve(3, 1, 2, 4, 8, 16, 32, 64, 128), "[4 8 32 128]"},
		{curve(0, 0, 1, 2), "[1 2]"},
		{curve(-1, 1, 64), "[1 64]"},
		{failed, "[2]"},
	} {
		if got := fmt.Sprint(tt.curve.recordAt()); got != tt.want {
			t.Errorf("recordAt of %d points, %d chosen = %s, want %s", len(tt.curve.Points), tt.curve.Chosen, got, tt.want)
		}
	}
}
