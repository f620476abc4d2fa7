package findings

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Each shape of a level, of one process and of twenty: hours since the window began give
// the level, 0 is none.
func TestTogether(t *testing.T) {
	const mib = 1 << 20
	flat := func(float64) float64 { return 100 }
	for name, c := range map[string]struct {
		level, load func(hours float64) float64
		one, many   bool // whether a growth is claimed
	}{
		"leak":          {func(h float64) float64 { return (100 + 20*h) * mib }, flat, true, true},
		"well":          {func(h float64) float64 { return 100 * mib }, flat, false, false},
		"shrinks":       {func(h float64) float64 { return (200 - 20*h) * mib }, flat, false, false},
		"warm-up":       {func(h float64) float64 { return (20 + 200*(1-math.Exp(-h/1.3))) * mib }, flat, false, false},
		"daily cycle":   {func(h float64) float64 { return (100 + 15*h) * mib }, func(h float64) float64 { return 100 + 15*h }, false, false},
		"leak at night": {func(h float64) float64 { return (100 + 20*h) * mib }, func(h float64) float64 { return 200 - 20*h }, true, true},
		"restart":       {func(h float64) float64 { return (30 + 100*math.Mod(h, 1.5)) * mib }, flat, false, false},
		"restarted, and leaks": {func(h float64) float64 {
			if h < 1 {
				return 400 * mib
			}
			return (50 + 50*(h-1)) * mib
		}, flat, false, true}, // one process alone must have been there for longer
		"saw-tooth": {func(h float64) float64 { return (100 + 60*math.Mod(h*5, 1)) * mib }, flat, false, false},
		"few bins": {func(h float64) float64 {
			if h < 2.5 {
				return 0
			}
			return (100 + 100*h) * mib
		}, flat, false, false},
		"gone": {func(h float64) float64 {
			if h > 3 {
				return 0
			}
			return (100 + 100*h) * mib
		}, flat, false, false},
		"silent between": {func(h float64) float64 {
			if h > 2 && h < 2.5 {
				return 0
			}
			return (100 + 100*h) * mib
		}, flat, false, false},
		"one step":         {func(h float64) float64 { return (100 + 100*math.Floor(h/2)) * mib }, flat, false, false},
		"small part":       {func(h float64) float64 { return (1000 + 10*h) * mib }, flat, false, false},
		"small in bytes":   {func(h float64) float64 { return (4 + h) * mib }, flat, false, false},
		"no load is known": {func(h float64) float64 { return (100 + 20*h) * mib }, nil, true, true},
	} {
		for n, want := range map[int]bool{1: c.one, 20: c.many} {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			noisy := func(x float64) float64 { return x * (0.98 + 0.04*random.Float64()) }
			courses := make([]course, n)
			for i := range courses {
				for b := range bins {
					at := time.Duration(b) * bin
					if x := c.level(at.Hours()); x > 0 {
						courses[i].level = append(courses[i].level, model.Point{At: at, Value: noisy(x)})
					}
					if c.load != nil {
						courses[i].load = append(courses[i].load, model.Point{At: at, Value: noisy(c.load(at.Hours()))})
					}
				}
			}
			g := together(courses, levels[0].least)
			if got := g.stands(g.p); got != want {
				t.Errorf("%s, %d processes: claimed %v, want %v: p %g, %d of %d rise", name, n, got, want, g.p, len(g.rising), len(g.trends))
			}
		}
	}
}

// A leak in a few of many processes is none of the version's.
func TestMostRise(t *testing.T) {
	for rising, want := range map[int]bool{2: false, 9: false, 10: true, 20: true} {
		var courses []course
		for i := range 20 {
			var c course
			for b := range bins {
				value := 1e9
				if i < rising {
					value += 1e7 * float64(b)
				} else {
					value += 1e5 * float64(b)
				}
				c.level = append(c.level, model.Point{At: time.Duration(b) * bin, Value: value})
			}
			courses = append(courses, c)
		}
		if g := together(courses, 1); g.stands(g.p) != want {
			t.Errorf("%d of 20 rise: claimed %v", rising, !want)
		}
	}
}
