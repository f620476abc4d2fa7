package oracle

import (
	"bytes"
	"math"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// perNanosecond spells the function out: its value in each nanosecond.
func perNanosecond(s []Step) []float64 {
	var v []float64
	for i := 1; i < len(s); i++ {
		for t := s[i-1].At; t < s[i].At; t++ {
			v = append(v, s[i-1].Share)
		}
	}
	return v
}

func bruteMMU(v []float64, window int) float64 {
	lowest := 1.0
	for from := 0; from+window <= len(v); from++ {
		sum := 0.0
		for _, x := range v[from : from+window] {
			sum += x
		}
		lowest = min(lowest, sum/float64(window))
	}
	return lowest
}

func TestUtilizationOfRestartedWorker(t *testing.T) {
	for _, c := range corpus.Sick() {
		if c.Load == nil {
			continue
		}
		u, err := Utilization(c.Trace, STW|Background|Assist)
		if err != nil || len(u) != 1 {
			t.Fatalf("Utilization() of %d Ps, %v; want 1", len(u), err)
		}
		var got []corpus.LoadStep
		for _, s := range u[0][1 : len(u[0])-1] {
			got = append(got, corpus.LoadStep{At: int64(s.At) - corpus.Epoch, Ps: int64(2 * (1 - s.Share))})
		}
		if len(got) != len(c.Load) {
			t.Fatalf("%s: steps %v, want %v", c.Name, got, c.Load)
		}
		for i := range got {
			if got[i] != c.Load[i] {
				t.Errorf("%s: step %v, want %v", c.Name, got[i], c.Load[i])
			}
		}
		v := perNanosecond(u[0])
		for _, w := range []int{1, 500, 1990, 3000, 8000} {
			if a, b := MMU(u, int64(w)), bruteMMU(v, w); math.Abs(a-b) > 1e-9 {
				t.Errorf("%s: MMU(%d) = %g, want %g as ns by ns", c.Name, w, a, b)
			}
		}
	}
}

// Each way of taking a P, with the times in ns from corpus.Epoch; P1 is idle.
func gcScript() ([]byte, error) {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	g := b.Generation(1, corpus.Epoch)
	m := g.Thread(1)
	on := func(at uint64, typ corpus.Type, args ...uint64) { m.Event(corpus.Epoch+at, typ, args...) }
	on(1, corpus.ProcStatus, 0, corpus.ProcRunning)
	on(2, corpus.StatusStack, 1, corpus.NoThread, corpus.Running, 0)
	on(3, corpus.ProcStatus, 1, corpus.ProcIdle)
	on(10, corpus.ProcsChange, 2, 0)
	on(100, corpus.AssistBegin, 0)
	on(200, corpus.GoBlock, g.String("GC mark assist wait for work"), 0) // not running: the P is free
	on(300, corpus.GoUnblock, 1, 1, 0)
	on(310, corpus.GoStart, 1, 2)
	on(400, corpus.AssistEnd)
	on(500, corpus.STWBegin, g.String("GC mark termination"), 0)
	on(600, corpus.STWEnd)
	on(700, corpus.STWBegin, g.String("read mem stats"), 0) // not the collector's
	on(750, corpus.STWEnd)
	on(800, corpus.SweepBegin, 0)
	on(900, corpus.SweepEnd, 1, 1)
	on(950, corpus.GoLabel, g.String("GC (dedicated)"))
	on(960, corpus.GoStop, g.String("preempted"), 0)
	on(1000, corpus.ProcStop)
	err := b.Close()
	return out.Bytes(), err
}

func TestUtilizationByFlag(t *testing.T) {
	data, err := gcScript()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags Flags
		taken int64 // P-nanoseconds
	}{
		{0, 0},
		{Assist, 100 + 90},
		{STW, 2 * 100},
		{Sweep, 100},
		{Background, 10},
		{STW | Background | Assist | Sweep, 190 + 200 + 100 + 10},
		{STW | Background | Assist | Sweep | PerProc, 190 + 200 + 100},
	} {
		u, err := Utilization(data, c.flags)
		if err != nil {
			t.Fatal(err)
		}
		taken := 0.0
		for _, s := range u {
			for i := 1; i < len(s); i++ {
				taken += (1 - s[i-1].Share) * float64(s[i].At-s[i-1].At) * 2 / float64(len(u))
			}
		}
		if int64(math.Round(taken)) != c.taken {
			t.Errorf("flags %05b: %g ns taken, want %d: %v", c.flags, taken, c.taken, u)
		}
	}
}

func TestMMUOfSteps(t *testing.T) {
	steps := []Step{{0, 1}, {10, 0.5}, {14, 0}, {15, 1}, {40, 0.25}, {47, 0.25}}
	v := perNanosecond(steps)
	for w := 1; w <= len(v); w++ {
		if a, b := MMU([][]Step{steps}, int64(w)), bruteMMU(v, w); math.Abs(a-b) > 1e-9 {
			t.Errorf("MMU(%d) = %g, want %g as ns by ns", w, a, b)
		}
	}
	if MMU([][]Step{steps}, 1000) != MMU([][]Step{steps}, 47) {
		t.Error("a window longer than the function is not cut to it")
	}
}
