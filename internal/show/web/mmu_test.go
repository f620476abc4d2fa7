package web

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

func TestMMU(t *testing.T) {
	m := &model.Model{Run: model.Run{Duration: time.Second, Procs: 2}, GC: &model.GC{}}
	for i, at := range []time.Duration{100 * ms, 400 * ms, 405 * ms, 900 * ms} {
		m.GC.Load = append(m.GC.Load,
			model.LoadChange{At: at, Proc: -1, Kind: model.LoadSTW, Delta: 1},
			model.LoadChange{At: at + time.Duration(i+1)*ms, Proc: -1, Kind: model.LoadSTW, Delta: -1})
	}
	v := &View{Model: m}
	value, err := v.mmu(query("window", "10000000"))
	got := ask[MMU](t, value, err)
	windows, want := make([]time.Duration, len(got.WindowNS)), make([]float64, len(got.WindowNS))
	u := m.GC.Utilization(model.CountAll, 2, 0, time.Second)
	for i, w := range got.WindowNS {
		windows[i] = time.Duration(w)
		_, want[i] = u.Worst(windows[i])
	}
	if !slices.Equal(got.Util, want) || !slices.IsSorted(got.WindowNS) || len(windows) < 10 || windows[len(windows)-1] != time.Second {
		t.Errorf("windows %v have utilizations %v, want %v", windows, got.Util, want)
	}
	if math.Abs(got.Mean-0.99) > 1e-9 || strings.Join(got.Flags, " ") != "stw background assist sweep" {
		t.Errorf("a mean of %v for %v, want 0.99 for stw background assist sweep", got.Mean, got.Flags)
	}
	// The stops at 400 and 405 ms are in one window; the windows keep apart.
	if len(got.Worst) != 3 || math.Abs(got.Worst[0].Util-0.5) > 1e-9 || math.Abs(got.Worst[1].Util-0.6) > 1e-9 || math.Abs(got.Worst[2].Util-0.9) > 1e-9 {
		t.Errorf("worst windows %+v, want 3 with utilizations of 0.5, 0.6 and 0.9", got.Worst)
	}
	for i, a := range got.Worst {
		for _, b := range got.Worst[:i] {
			if a.AtNS < b.AtNS+b.WindowNS && b.AtNS < a.AtNS+a.WindowNS {
				t.Errorf("windows %+v and %+v overlap, want them apart", a, b)
			}
		}
	}
	value, err = v.mmu(query("flags", "assist"))
	if got := ask[MMU](t, value, err); got.Mean != 1 || len(got.Worst) != 0 {
		t.Errorf("mmu(assist) = mean %v, worst %+v, want 1, none", got.Mean, got.Worst)
	}
	for q, want := range map[string]string{"flags=stw,colour": "no load called", "window=0": "whole number", "window=x": "whole number"} {
		key, val, _ := strings.Cut(q, "=")
		if _, err := v.mmu(query(key, val)); !refused(err, want) {
			t.Errorf("mmu(%s): error %v, want one with %q", q, err, want)
		}
	}
	m.Run.Procs = 0
	v = &View{Model: m} // what was computed is kept
	if _, err := v.mmu(nil); !refused(err, "how many Ps") {
		t.Errorf("without Ps: %v", err)
	}
	if r := chartsOf(t, m); r.MMU != nil {
		t.Errorf("without Ps the charts have the MMU %+v, want nil", r.MMU)
	}
}
