//go:build unix

package main

import (
	"fmt"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/casetest"
)

// TestRightCount answers what the story asks for: the count of workers is found
// by measuring, over the whole range, and the formulas do not find it.
func TestRightCount(t *testing.T) {
	attempt.Only(t, "measures the program some sixty times")
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	search := func() casetest.Search {
		return gowhy.Tune(t, "workers=1..1000", program, "-procs", "0", "-tasks", "200", "-size", "128KiB", "-workers", "{workers}", "-trace", "{trace}")
	}
	// Elapsed times of one count differ by a third while other programs run,
	// and the whole curve by no more from 1 to 128: chance may choose a large
	// count, but not each time. Nor do the runs that show what a crowd needs, of some
	// 30 ms, each time end before anybody asked.
	var s casetest.Search
	err := attempt.Repeat(t, func() error {
		s = search()
		if n := s.Chosen["workers"]; n < 1 || n > few {
			return fmt.Errorf("recommends %v workers, want at most %d", n, few)
		}
		if len(s.Curves) != 1 {
			return fmt.Errorf("%d curves, want 1", len(s.Curves))
		}
		return memoryGrows(s.Curves[0])
	})
	if err != nil {
		t.Fatal(err)
	}
	checkCurve(t, s.Curves[0])
	checkFormulas(t, s.Curves[0].Formulas)
}

// few is a count of workers that nobody would call many.
const few = 64

// checkCurve asks for a curve from end to end.
func checkCurve(t *testing.T, c casetest.Curve) {
	t.Helper()
	if n := len(c.Points); n < 8 || c.Points[0].Value != 1 || c.Points[n-1].Value != crowd {
		t.Fatalf("%d points: %+v; want 8 or more, from 1 to %d", n, c.Points, crowd)
	}
	for i, p := range c.Points {
		if i > 0 && p.Value <= c.Points[i-1].Value {
			t.Errorf("%v workers come after %v", p.Value, c.Points[i-1].Value)
		}
		if g := p.Goal; g.Value <= 0 || g.Low > g.Value || g.High < g.Value {
			t.Errorf("%v workers: %+v, want a goal above 0 inside of its interval", p.Value, g)
		}
	}
}

// memoryGrows returns an error unless a crowd needs more than a handful: each worker at work
// holds two buffers, and what was seen has little noise.
func memoryGrows(c casetest.Curve) error {
	little, much := 0.0, 0.0
	for _, p := range c.Points {
		switch rss := p.Values["peak-rss"]; {
		case rss == 0:
		case p.Value <= 8 && (little == 0 || rss < little):
			little = rss
		case p.Value > 128:
			much = max(much, rss)
		}
	}
	if much == 0 || little > much*3/4 {
		return fmt.Errorf("a handful of workers needs %.0f bytes and hundreds need %.0f, want a third more or above", little, much)
	}
	return nil
}

// checkFormulas holds each formula to the only thing that it can be held to
// without a clock: to say the same of one program, wherever it is measured.
func checkFormulas(t *testing.T, formulas []casetest.Formula) {
	t.Helper()
	steady := map[string]bool{"wait over work": false, "Goetz": false, "stable estimate": true}
	for _, f := range formulas {
		want, known := steady[f.Name]
		delete(steady, f.Name)
		if !known || len(f.Says) < 3 || len(f.At) != len(f.Says) {
			t.Errorf("formula %+v, want one of the three, once, with three values or more at as many places", f)
			continue
		}
		if s := f.Spread(); want && s > 2 || !want && s < 5 || f.Stable != want {
			t.Errorf("%s says %v at %v: a spread of %.1f, called stable: %v, want %v", f.Name, f.Says, f.At, s, f.Stable, want)
		}
	}
	if len(steady) > 0 {
		t.Errorf("missing: %v", steady)
	}
}

// TestReuse proves the lever that the story does not look at.
func TestReuse(t *testing.T) {
	attempt.Only(t, "measures the program some twenty times")
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	task := []string{"-procs", "0", "-tasks", "200", "-size", "2MiB", "-workers", "8"}
	trial := gowhy.Verify(t, program.Command(task...), program.Command(append(task, "-reuse")...), "--primary", "cpu/op", "--no-count", "--no-floor", "--pairs", "10", "--guard", "none")
	if trial.Conclusion != "confirmed" {
		t.Errorf("%s: %s, want confirmed", trial.Conclusion, trial.Why)
	}
	best := 1.0
	for _, e := range trial.Effects {
		if (e.Metric == "cpu/op" || e.Metric == "elapsed") && e.Ratio > 0 {
			best = min(best, e.Ratio)
		}
	}
	if best > 0.8 {
		t.Errorf("the best of CPU and elapsed time is %.2f times what it was, want 0.8 at most", best)
	}
	t.Logf("%s after %d pairs: %s", trial.Conclusion, trial.Pairs, trial.Why)
}
