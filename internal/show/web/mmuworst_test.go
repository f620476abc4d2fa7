package web

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// loads are changes of the collector's load as a trace has them: phases in which
// Ps are taken and given back, and stops of the world.
func loads(rng *rand.Rand, n int, span time.Duration) *model.GC {
	g := &model.GC{}
	at := time.Duration(0)
	for i := range n {
		at += time.Duration(rng.Int64N(int64(2*span) / int64(n)))
		if rng.IntN(10) == 0 {
			at += span / 50 // the program runs undisturbed
		}
		kinds := []model.LoadKind{model.LoadBackground, model.LoadAssist, model.LoadSweep, model.LoadSTW}
		c := model.LoadChange{At: at, Proc: int32(rng.IntN(4)), Kind: kinds[rng.IntN(4)], Delta: 1}
		if c.Kind == model.LoadSTW {
			c.Proc = -1
		}
		if i%2 == 1 {
			c = g.Load[i-1]
			c.At, c.Delta = at, -1
		}
		g.Load = append(g.Load, c)
	}
	return g
}

// The worst windows are those of a search that looks at every one, to the bit: of
// all of a run, and of parts of it.
func TestWorstAsSlowly(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 60 {
		n := 2 + rng.IntN(3000)
		span := time.Duration(1000 + rng.IntN(1_000_000))
		g := loads(rng, n, span)
		for _, flags := range []model.LoadFlags{model.CountAll, model.CountAll | model.PerProc, model.CountSTW, 0} {
			u := g.Utilization(flags, 4, 0, span)
			var all []*worstFinder
			for _, s := range u {
				all = append(all, newWorstFinder(s))
			}
			if got, want := meanOf(all), u.Mean(); got != want {
				t.Fatalf("mean %v, want %v", got, want)
			}
			for _, w := range windowLengths(span, 12) {
				at, util, ok := worstOf(all, w, 0, span)
				if wantAt, want := u.Worst(w); !ok || util != want || at != wantAt {
					t.Fatalf("%d changes, flags %05b, window %v of %v: %v at %v, want %v at %v", n, flags, w, span, util, at, want, wantAt)
				}
				from := time.Duration(rng.Int64N(int64(span)))
				to := from + 1 + time.Duration(rng.Int64N(int64(span-from)))
				_, util, ok = worstOf(all, w, from, to)
				// Sums begin elsewhere in a part, and round otherwise.
				if _, want := g.Utilization(flags, 4, from, to).Worst(w); !ok || util > want+1e-9 || util < want-1e-9 {
					t.Fatalf("%d changes, flags %05b, window %v of %v to %v: %v, want %v", n, flags, w, from, to, util, want)
				}
			}
		}
	}
}

// What a block cannot fall below is really below none of its windows.
func TestWorstBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const span = time.Millisecond
	f := newWorstFinder(loads(rng, 4000, span).Utilization(model.CountAll, 4, 0, span)[0])
	for range 3000 {
		s := &worstSearch{worstFinder: f, window: 1 + time.Duration(rng.Int64N(int64(span)/4)), stop: span}
		s.stop -= s.window
		block := rng.IntN(len(f.least))
		begin, end := s.span(block)
		if end <= begin {
			continue
		}
		if _, util, ok := f.worst(s.window, begin, end+s.window); !ok || util < s.bound(block) {
			t.Fatalf("windows of %v in block %d: utilization %v, want at least their bound %v", s.window, block, util, s.bound(block))
		}
	}
}

// A curve is computed once, and what was asked of it changes nothing.
func TestMMUIsKept(t *testing.T) {
	v := &View{Model: &model.Model{Run: model.Run{Duration: time.Millisecond, Procs: 4}, GC: loads(rand.New(rand.NewPCG(1, 2)), 500, time.Millisecond)}}
	for range 2 {
		for _, flags := range []string{"stw", "", "stw,perproc"} {
			value, err := v.mmu(query("flags", flags))
			got := ask[MMU](t, value, err)
			parsed, _ := parseFlags(flags)
			kept := v.mmuCurve(parsed)
			if kept != v.mmuCurve(parsed) || len(kept.Worst) != 0 || len(got.Util) != len(kept.Util) {
				t.Errorf("%q: %+v, kept %+v; want the curve kept as it is, without windows", flags, got, kept)
			}
		}
	}
}
